import type { DialectName } from './dialects.cts';
import type { TaskFaults } from './faults.cts';
import type { Creation } from './models.cts';

export const defaults = {
	/** The dialect that the service speaks: dialects.cts has the differences. */
	dialect: 'contract' as DialectName,
	token: 'dev-token',
	/** The key that signs callbacks. A blank one switches signing off. */
	webhookSecret: 'dev-webhook-hmac-key',
	taskSeconds: 0.2,
	/** The pauses between the attempts to deliver a callback. */
	callbackRetrySeconds: [0.2, 0.4, 0.8],
	/** How long a receiver may take to answer a callback. */
	callbackTimeoutSeconds: 15,
	callbacks: true,
	credits: 10_000,
	/** The cost of a task whose model has no price in the list. */
	costPerTask: 12.5,
	/** How many creations the service takes within ten seconds. It rejects the others. */
	creationsPer10Seconds: Infinity,
	/** How many unfinished tasks the service takes. It rejects the others, with the text below. */
	tasksAtOnce: Infinity,
	tasksAtOnceText:
		'The number of concurrent tasks has reached its limit. Please wait for a task to end.',
	/** The endpoints that a service need not have. */
	balance: true,
	catalogue: true,
	downloadUrl: true,
	/** The least time between two requests to the catalogue or for a fresh link. */
	readSeconds: 1,
};

export type Settings = typeof defaults & {
	/** How long result links are valid; by default, and with null, for ever. */
	resultSeconds?: number | null;
	/** Chooses the faults of a task. `index` counts creations from 0. */
	faultsFor?: (task: Creation & { index: number }) => TaskFaults | undefined;
	/** Changes the body of an answer of the API: the API sends what this function returns. */
	rewrite?: (body: unknown, path: string) => unknown;
	log?: (line: string) => void;
};
export type SettingsInput = Partial<Settings>;
