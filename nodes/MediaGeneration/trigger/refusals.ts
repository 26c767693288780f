import { FAULTS, type Refusal } from '../callback/faults';
import { UNCONFIRMED, type Refused } from '../callback/respond';

/** Why the trigger refuses a callback. */
export const TRIGGER_REFUSALS = {
	...FAULTS,
	...UNCONFIRMED,
	createdForAnother: [
		404,
		"The task was created with another Callback URL. If it is a relay in front of this trigger, put the ID in the trigger's own URL into its path",
	],
	taskUnknown: [404, 'The service knows no such task'],
	temporarilyUnavailable: [503, 'Temporarily unable to process callbacks. Retry later.'],
	underway: [503, 'A copy of this callback is still being processed. Retry later.'],
} as const satisfies Record<string, Refusal>;

export type TriggerRefused = Refused<keyof typeof TRIGGER_REFUSALS>;
