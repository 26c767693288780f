import { UNCONFIRMED } from '../callback/respond';
import { FAULTS, type Refusal, type Refused } from '../callback/verify';

/** Why the trigger refuses a callback. */
export const TRIGGER_REFUSALS = {
	...FAULTS,
	...UNCONFIRMED,
	createdForAnother: [
		404,
		"The task was created with another Callback URL. If that URL is a relay in front of this trigger, its path must contain the ID in the trigger's URL",
	],
	taskUnknown: [404, 'The service knows no such task'],
	temporarilyUnavailable: [503, 'Temporarily unable to process callbacks. Retry later.'],
	underway: [503, 'A copy of this callback is still being processed. Retry later.'],
} as const satisfies Record<string, Refusal>;

export type TriggerRefused = Refused<keyof typeof TRIGGER_REFUSALS>;
