import { z } from 'zod';
import type { TaskFaults } from './faults.cts';
import type { TaskOrder } from './models.cts';

/** `index` counts create requests from 0. */
type FaultsFor = (task: TaskOrder & { index: number }) => TaskFaults | undefined;
type Log = (line: string) => void;

const isFunction = (value: unknown) => typeof value === 'function';
const seconds = z.number().nonnegative();

export const settingsShape = z
	.object({
		token: z.string().min(1).default('dev-token'),
		/** Signs callbacks; '' switches signing off. */
		webhookSecret: z.string().default('dev-webhook-key'),
		taskSeconds: seconds.default(0.2),
		/** The pauses between the attempts to deliver a callback. */
		callbackRetrySeconds: z.array(seconds).default([0.2, 0.4, 0.8]),
		/** How many tasks can be created in any period of so many seconds. */
		rateLimit: z
			.object({ requests: z.number().int().positive(), seconds: z.number().positive() })
			.strict()
			.nullable()
			.default(null),
		credits: z.number().default(1000),
		costPerTask: z.number().nonnegative().default(12.5),
		/** How long result links are valid; null for ever. */
		resultSeconds: z.number().positive().nullable().default(null),
		/** Whether there is a model catalogue. */
		catalogue: z.boolean().default(true),
		/** Whether there is an endpoint that renews links. */
		downloadUrl: z.boolean().default(true),
		/** The least time between two requests to the catalogue or for a fresh link. */
		lookupSeconds: seconds.default(1),
		/** How many models the catalogue has besides its own. */
		generatedModels: z.number().int().nonnegative().default(0),
		faultsFor: z.custom<FaultsFor>(isFunction, 'must be a function').default(() => () => ({})),
		log: z.custom<Log>(isFunction, 'must be a function').default(() => () => {}),
	})
	.strict();

export type Settings = z.infer<typeof settingsShape>;
export type SettingsInput = z.input<typeof settingsShape>;

/** The settings that differ when a person runs the emulator: slow enough to watch. */
export const commandLineSettings = {
	taskSeconds: 2,
	callbackRetrySeconds: [5, 15, 60],
	rateLimit: { requests: 20, seconds: 10 },
};
