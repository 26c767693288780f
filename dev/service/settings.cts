import type { DialectName } from './dialects.cts';
import type { TaskFaults } from './faults.cts';
import type { TaskOrder } from './models.cts';

export const defaults = {
	/** How the service speaks: dialects.cts has the differences. */
	dialect: 'contract' as DialectName,
	token: 'dev-token',
	/** Signs callbacks; '' switches signing off. */
	webhookSecret: 'dev-webhook-hmac-key',
	taskSeconds: 0.2,
	/** The pauses between the attempts to deliver a callback. */
	callbackRetrySeconds: [0.2, 0.4, 0.8],
	/** The time that a receiver has to answer one. */
	callbackTimeoutSeconds: 15,
	callbacks: true,
	credits: 10_000,
	/** Of a model without a price in the list. */
	costPerTask: 12.5,
	/** More creations within ten seconds are rejected. */
	creationsPer10Seconds: Infinity,
	/** More unfinished tasks are rejected, in these words. */
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
	/** The validity of result links; null and by default for ever. */
	resultSeconds?: number | null;
	/** `index` counts create requests from 0. */
	faultsFor?: (task: TaskOrder & { index: number }) => TaskFaults | undefined;
	/** Changes the body of an answer of the API: what it returns is sent. */
	rewrite?: (body: unknown, path: string) => unknown;
	log?: (line: string) => void;
};
export type SettingsInput = Partial<Settings>;
