const { z } = require('zod');

/** @typedef {import('./faults').TaskFaults} TaskFaults */
/** @typedef {import('./models').TaskOrder} TaskOrder */
/** @typedef {(task: TaskOrder & { index: number }) => TaskFaults | undefined} FaultsFor `index` counts create requests from 0 */
/** @typedef {(line: string) => void} Log */
/** @typedef {import('zod').infer<typeof settingsShape>} Settings */
/** @typedef {import('zod').input<typeof settingsShape>} SettingsInput */

/**
 * @template T
 * @returns {import('zod').ZodType<T>}
 */
const aFunction = () => z.custom((value) => typeof value === 'function', 'must be a function');

const seconds = z.number().nonnegative();

/** @type {import('zod').ZodType<FaultsFor>} */
const faultsFor = aFunction();
/** @type {import('zod').ZodType<Log>} */
const log = aFunction();

/** Every setting, with what a library user gets when it is not given. */
const settingsShape = z
	.object({
		token: z.string().min(1).default('dev-token'),
		webhookSecret: z.string().default('dev-webhook-key'),
		taskSeconds: seconds.default(0.2),
		callbackRetrySeconds: z.array(seconds).default([0.2, 0.4, 0.8]),
		callbackTimeoutSeconds: z.number().positive().default(15),
		callbackVariant: z.enum(['contract', 'withResult', 'record']).default('contract'),
		rateLimit: z
			.object({ requests: z.number().int().positive(), seconds: z.number().positive() })
			.strict()
			.nullable()
			.default(null),
		credits: z.number().default(1000),
		costPerTask: z.number().nonnegative().default(12.5),
		resultSeconds: z.number().positive().nullable().default(null),
		faultsFor: faultsFor.default(() => () => ({})),
		log: log.default(() => () => {}),
	})
	.strict();

/** What differs when a person runs the emulator: slow enough to watch. */
const commandLineSettings = {
	taskSeconds: 2,
	callbackRetrySeconds: [5, 15, 60],
	rateLimit: { requests: 20, seconds: 10 },
};

module.exports = { commandLineSettings, settingsShape };
