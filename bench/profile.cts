const { INSPECTABLE, inspect } = require('../dev/n8n/inspect.cts');
const { richService } = require('./pair.cts');
const { processorTime } = require('./processor.cts');
const { CALLBACKS, IN_FLIGHT, interleaved, round, withReceivers } = require('./receivers.cts');
const { SETTINGS } = require('./settings.cts');
const { median } = require('./statistics.cts');

/**
 * Where n8n's processor time goes when a callback comes in: that of all other threads, which set up isolates and write to
 * the database, and that of its main thread, by whose JavaScript the samples of a profile were in or were called by. It
 * shows the floor below what a trigger of a community package costs: one that does nothing, and one that does nothing but
 * has a credential.
 */
const ROUNDS = 5;

const OWN = 'own';
/** Whose code a file is, the first that fits. @type {Array<[string, RegExp]>} */
const FILES = [
	['isolates', /\/(isolated-vm|@n8n\/expression-runtime)\//],
	['database', /\/(@n8n\/typeorm|sqlite3)\//],
	[OWN, /\/(n8n-nodes-media-generation\/dist|n8n-nodes-base\/dist|bench\/nothing)\//],
];
const GARBAGE = '(garbage collector)';
/** What V8 shows as a function when it does nothing, and in native code, where it also begins and ends a profile. */
const NOT_SHOWN = ['(idle)', '(program)'];

/** @typedef {{ id: number, callFrame: { functionName: string, url: string }, children?: number[] }} ProfileNode */
/** @typedef {{ nodes: ProfileNode[], samples: number[], timeDeltas: number[] }} Profile as the Chrome DevTools Protocol has it */

/**
 * By part, its share of the time that a profile was in JavaScript.
 * @param {Profile} profile
 * @returns {Record<string, number>}
 */
function sharesOf({ nodes, samples, timeDeltas }) {
	/** @type {Map<number, string>} */
	const parts = new Map();
	const byId = new Map(nodes.map((node) => [node.id, node]));
	/** @param {ProfileNode | undefined} node @param {string} callers */
	const name = (node, callers) => {
		if (!node) return;
		const { functionName, url } = node.callFrame;
		const own = FILES.find(([, pattern]) => pattern.test(url))?.[0];
		const part = [GARBAGE, ...NOT_SHOWN].includes(functionName) ? functionName : (own ?? callers);
		parts.set(node.id, part);
		for (const child of node.children ?? []) name(byId.get(child), part);
	};
	name(nodes[0], 'n8n');
	/** @type {Record<string, number>} */
	const times = {};
	for (const [index, id] of samples.entries()) {
		const part = parts.get(id) ?? '';
		if (NOT_SHOWN.includes(part)) continue;
		times[part] = (times[part] ?? 0) + (timeDeltas[index] ?? 0);
	}
	const all = Object.values(times).reduce((sum, time) => sum + time, 0);
	return Object.fromEntries(Object.entries(times).map(([part, time]) => [part, time / all]));
}

/** @typedef {Record<string, number>} Cost milliseconds per callback: `all`, those of the `main` thread, and the share that each part has in the latter */

/**
 * What a callback to each receiver costs, by medians of interleaved rounds.
 * @param {import('../dev/service/index.cts').Service} service
 * @param {Record<string, string>} env
 */
const measure = async (service, env) =>
	await withReceivers(service, { ...INSPECTABLE, ...env }, async (n8n, receivers) =>
		inspect(n8n, async (call) => {
			/** @param {import('./receivers.cts').Receiver} receiver @returns {Promise<Cost>} */
			const cost = async (receiver) => {
				const used = () => ({
					all: processorTime(n8n.pid),
					main: processorTime(n8n.pid, { mainThread: true }),
				});
				await call('Profiler.start');
				const before = used();
				await round(service, n8n, receiver);
				const after = used();
				const { profile } = await call('Profiler.stop');
				return {
					all: (after.all - before.all) / CALLBACKS,
					main: (after.main - before.main) / CALLBACKS,
					...sharesOf(profile),
				};
			};

			await call('Profiler.enable');
			const costs = await interleaved(receivers, ROUNDS, cost);
			return (/** @type {import('./receivers.cts').Name} */ name, /** @type {string} */ part) =>
				median(costs(name).map((cost) => cost[part] ?? 0));
		}),
	);

const SHOWN = {
	isolates: 'isolates',
	database: 'database',
	n8n: 'n8n',
	[OWN]: 'the node itself',
	[GARBAGE]: 'garbage',
};

/** @type {Array<{ name: string, of: import('./receivers.cts').Name, own?: boolean, receiver: import('./receivers.cts').Name }>} */
const SHARES = [
	{
		name: 'without details, that of the bare Webhook node',
		of: 'withoutDetails',
		receiver: 'bare',
	},
	{
		name: 'without details, that of a trigger that does nothing',
		of: 'withoutDetails',
		receiver: 'nothing',
	},
	{
		name: 'without details, that of a trigger that does nothing and has a credential',
		of: 'withoutDetails',
		receiver: 'nothingWithCredential',
	},
	{
		name: 'without details, what runs in this package',
		of: 'withoutDetails',
		receiver: 'withoutDetails',
		own: true,
	},
	{
		name: 'with details, what runs in this package',
		of: 'withDetails',
		receiver: 'withDetails',
		own: true,
	},
];

async function bench() {
	const service = await richService({ taskSeconds: 0 });
	/** @type {import('./run.cts').Row[]} */
	const rows = [];
	try {
		for (const { setting, env } of SETTINGS) {
			const costOf = await measure(service, env);
			for (const { name, of, receiver, own } of SHARES) {
				const [all, main] = [costOf(receiver, 'all'), costOf(receiver, 'main')];
				const shares = Object.entries(SHOWN).map(
					([part, shown]) => `${shown} ${(100 * costOf(receiver, part)).toFixed(1)} %`,
				);
				rows.push({
					name: `Of the processor time of a callback ${name}; ${setting}`,
					value: (own ? main * costOf(receiver, OWN) : all) / costOf(of, 'all'),
					figures: `${all.toFixed(1)} ms, ${(all - main).toFixed(1)} ms of it in other threads; of the main thread ${shares.join(', ')}; medians of ${ROUNDS} rounds of ${CALLBACKS}, ${IN_FLIGHT} in flight`,
				});
			}
		}
		return rows;
	} finally {
		await service.close();
	}
}

module.exports = { title: 'Where the processor time of a callback goes', bench };
