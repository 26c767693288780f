import type { TaskFaults } from './faults.cts';
import type { TaskOrder } from './models.cts';

export const defaults = {
	token: 'dev-token',
	/** Signs callbacks; '' switches signing off. */
	webhookSecret: 'dev-webhook-key',
	taskSeconds: 0.2,
	/** The pauses between the attempts to deliver a callback. */
	callbackRetrySeconds: [0.2, 0.4, 0.8],
	credits: 1000,
	costPerTask: 12.5,
	/** Has a model catalogue. */
	catalogue: true,
	/** Has an endpoint that renews links. */
	downloadUrl: true,
	/** The least time between two requests to the catalogue or for a fresh link. */
	lookupSeconds: 1,
	/** The number of models in the catalogue besides its own. */
	generatedModels: 0,
	/** Documents that the catalogue has in place of its own, by the name of the model. Tasks are held to its own. */
	documents: {} as Record<string, object>,
};

export type Settings = typeof defaults & {
	/** The most tasks that can be created in any period of so many seconds. */
	rateLimit?: { requests: number; seconds: number };
	/** The validity of result links; null and by default for ever. */
	resultSeconds?: number | null;
	/** `index` counts create requests from 0. */
	faultsFor?: (task: TaskOrder & { index: number }) => TaskFaults | undefined;
	log?: (line: string) => void;
};
export type SettingsInput = Partial<Settings>;

/** The settings that differ when a person runs the emulator: slow enough to watch. */
export const commandLineSettings = {
	taskSeconds: 2,
	callbackRetrySeconds: [5, 15, 60],
	rateLimit: { requests: 20, seconds: 10 },
};
