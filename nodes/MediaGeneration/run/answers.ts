import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { answer, refuseCallback, UNCONFIRMED } from '../callback/respond';
import { FAULTS, type Refusal, type Refused } from '../callback/verify';

/**
 * Marks a nudge among callbacks. It is not signed, because a key that is changed while the execution
 * sleeps would refuse it. It only has the webhook ask: the task's details decide, or the wait limit.
 */
export const NUDGE = 'nudge';

/** Why a callback of a run that sleeps is refused. */
export const WAKE_REFUSALS = {
	...FAULTS,
	...UNCONFIRMED,
	taskNotInExecution: [404, 'This execution waits for other tasks'],
	limitPassed: [410, "The wait limit has passed. Look at the task with the node's operation Get"],
} as const satisfies Record<string, Refusal>;

export type WakeReason = keyof typeof WAKE_REFUSALS;

export const refuse = (
	context: IWebhookFunctions,
	refused: Refused<WakeReason>,
): IWebhookResponseData => refuseCallback(context, WAKE_REFUSALS, refused);

/** Tells the sender that its callback is fine, though the execution sleeps on. */
export const accept = (context: IWebhookFunctions): IWebhookResponseData =>
	answer(context, 200, { accepted: true, resumed: false });
