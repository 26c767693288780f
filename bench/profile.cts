import type { Profiler } from 'node:inspector';
import { median, sum } from 'simple-statistics';
import { INSPECTABLE, inspect } from '../dev/n8n/inspect.cts';
import { interleave, readProcessorTime } from './measure.cts';
import { CALLBACKS, measureReceivers, measureRound, ROUND, type Receiver } from './receivers.cts';

const ROUNDS = 5;

const OWN = 'the node itself';
const PARTS = ['isolates', 'database', 'n8n', OWN, 'garbage'];

/** The parts of n8n that the files of its modules belong to. The first pattern that fits counts. */
const FILES: Array<[string, RegExp]> = [
	['isolates', /\/(isolated-vm|@n8n\/expression-runtime)\//],
	['database', /\/(@n8n\/typeorm|sqlite3)\//],
	[OWN, /\/(n8n-nodes-media-generation\/dist|n8n-nodes-base\/dist)\/|\/NothingTrigger\.node\.js$/],
];

/** The functions that V8 shows for what is none. Neither idling nor native code counts, in which a profile begins and ends. */
const PSEUDO_FUNCTIONS: Record<string, string> = {
	'(garbage collector)': 'garbage',
	'(idle)': '',
	'(program)': '',
};

/** Computes the share of each part in the samples of a profile that were in JavaScript. */
function computeShares({ nodes }: Profiler.Profile) {
	const byId = new Map(nodes.map((node) => [node.id, node]));
	const hits: Record<string, number> = Object.fromEntries(PARTS.map((part) => [part, 0]));
	const count = (node: Profiler.ProfileNode | undefined, caller: string) => {
		if (!node) return;
		const { functionName, url } = node.callFrame;
		const file = FILES.find(([, pattern]) => pattern.test(url))?.[0];
		const part = PSEUDO_FUNCTIONS[functionName] ?? file ?? caller;
		if (part) hits[part] = (hits[part] ?? 0) + (node.hitCount ?? 0);
		for (const child of node.children ?? []) count(byId.get(child), part);
	};
	count(nodes[0], 'n8n');
	const all = sum(Object.values(hits));
	return Object.fromEntries(Object.entries(hits).map(([part, hit]) => [part, hit / all]));
}

/** The shares that the rows name. Of ours, only what runs in this package counts. */
const SHARES = [
	['bare', 'that of the bare Webhook node'],
	['nothing', 'that of a trigger that does nothing'],
	['withoutDetails', 'what runs in this package'],
] as const;

/**
 * Splits n8n's processor time for a callback: that of all other threads, which set up isolates and write to the
 * database, and that of its main thread, by whose JavaScript the samples of a profile were in or were called by. A trigger
 * that does nothing shows the least that any trigger of a community package costs.
 */
export const bench = async () =>
	await measureReceivers(
		async (setup, { bare, nothing, withoutDetails }) =>
			await inspect(setup.n8n, async (call) => {
				/** Measures milliseconds per callback, of all threads and of the main one, and the shares of the latter. */
				const measureCost = async (receiver: Receiver): Promise<Record<string, number>> => {
					const { pid } = setup.n8n;
					await call('Profiler.start');
					const before = readProcessorTime(pid, { mainThread: true });
					const { processor: all } = await measureRound(setup, receiver);
					const main = (readProcessorTime(pid, { mainThread: true }) - before) / CALLBACKS;
					const { profile } = await call<Profiler.StopReturnType>('Profiler.stop');
					return { all, main, ...computeShares(profile) };
				};

				await call('Profiler.enable');
				const receivers = { bare, nothing, withoutDetails };
				const costs = await interleave(receivers, { rounds: ROUNDS }, measureCost);
				return SHARES.map(([receiver, what]) => {
					const compute = (part: string, whose: keyof typeof costs = receiver) =>
						median(costs[whose].map((cost) => cost[part] ?? 0));
					const all = compute('all');
					const main = compute('main');
					const shares = PARTS.map((part) => `${part} ${(100 * compute(part)).toFixed(1)} %`);
					const counted = receiver === 'withoutDetails' ? main * compute(OWN) : all;
					return {
						name: `Of the processor time of a callback without details, ${what}`,
						value: counted / compute('all', 'withoutDetails'),
						figures: `${all.toFixed(1)} ms, ${(all - main).toFixed(1)} ms of it in other threads; of the main thread ${shares.join(', ')}; medians of ${ROUNDS} ${ROUND}`,
					};
				});
			}),
		INSPECTABLE,
	);
