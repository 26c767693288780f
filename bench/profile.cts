import type { Profiler } from 'node:inspector';
import { median, sum } from 'simple-statistics';
import { INSPECTABLE, inspect } from '../dev/n8n/inspect.cts';
import { interleave } from './measure.cts';
import { readProcessorTime } from './processor.cts';
import {
	CALLBACKS,
	IN_FLIGHT,
	measureReceivers,
	measureRound,
	type Receiver,
	type ReceiverName,
} from './receivers.cts';

export const title = 'Where the processor time of a callback goes';

const ROUNDS = 5;

const OWN = 'the node itself';
const GARBAGE = 'garbage';

/** The parts of n8n that the files of its modules belong to. The first pattern that fits counts. */
const FILES: Array<[string, RegExp]> = [
	['isolates', /\/(isolated-vm|@n8n\/expression-runtime)\//],
	['database', /\/(@n8n\/typeorm|sqlite3)\//],
	[OWN, /\/(n8n-nodes-media-generation\/dist|n8n-nodes-base\/dist)\/|\/NothingTrigger\.node\.js$/],
];
const PARTS = ['isolates', 'database', 'n8n', OWN, GARBAGE];

/** The functions that V8 shows for what is none. Neither idling nor native code counts, in which a profile begins and ends. */
const PSEUDO_FUNCTIONS: Record<string, string> = {
	'(garbage collector)': GARBAGE,
	'(idle)': '',
	'(program)': '',
};

/** Computes the share of each part in the time that a profile was in JavaScript. */
function computeShares({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile) {
	const parts = new Map<number, string>();
	const byId = new Map(nodes.map((node) => [node.id, node]));
	const assign = (node: Profiler.ProfileNode | undefined, caller: string) => {
		if (!node) return;
		const { functionName, url } = node.callFrame;
		const own = FILES.find(([, pattern]) => pattern.test(url))?.[0];
		const part = PSEUDO_FUNCTIONS[functionName] ?? own ?? caller;
		parts.set(node.id, part);
		for (const child of node.children ?? []) assign(byId.get(child), part);
	};
	assign(nodes[0], 'n8n');
	const times: Record<string, number> = {};
	for (const [index, id] of samples.entries()) {
		const part = parts.get(id);
		if (part) times[part] = (times[part] ?? 0) + (timeDeltas[index] ?? 0);
	}
	const all = sum(Object.values(times));
	return Object.fromEntries(Object.entries(times).map(([part, time]) => [part, time / all]));
}

interface Share {
	of: 'withoutDetails' | 'withDetails';
	/** Of ours, only what runs in this package counts. */
	receiver: ReceiverName;
	name: string;
}

const SHARES: Share[] = [
	{ of: 'withoutDetails', receiver: 'bare', name: 'that of the bare Webhook node' },
	{ of: 'withoutDetails', receiver: 'nothing', name: 'that of a trigger that does nothing' },
	{
		of: 'withoutDetails',
		receiver: 'nothingWithCredential',
		name: 'that of a trigger that does nothing and has a credential',
	},
	{ of: 'withoutDetails', receiver: 'withoutDetails', name: 'what runs in this package' },
	{ of: 'withDetails', receiver: 'withDetails', name: 'what runs in this package' },
];

/**
 * Where n8n's processor time goes when a callback comes in: that of all other threads, which set up isolates and write to
 * the database, and that of its main thread, by whose JavaScript the samples of a profile were in or were called by. It
 * shows the floor below what a trigger of a community package costs: one that does nothing, and one that does nothing but
 * has a credential.
 */
export const bench = async () =>
	await measureReceivers(
		async (setup) =>
			await inspect(setup.n8n, async (call) => {
				const { pid } = setup.n8n;
				const readTimes = () => ({
					all: readProcessorTime(pid),
					main: readProcessorTime(pid, { mainThread: true }),
				});

				/** Measures milliseconds per callback, of all threads and of the main one, and the shares of the latter. */
				const measureCost = async (receiver: Receiver): Promise<Record<string, number>> => {
					await call('Profiler.start');
					const before = readTimes();
					await measureRound(setup, receiver);
					const after = readTimes();
					const { profile } = await call<Profiler.StopReturnType>('Profiler.stop');
					return {
						all: (after.all - before.all) / CALLBACKS,
						main: (after.main - before.main) / CALLBACKS,
						...computeShares(profile),
					};
				};

				await call('Profiler.enable');
				const costs = await interleave(setup.receivers, { rounds: ROUNDS }, measureCost);
				const computeCost = (receiver: ReceiverName, part: string) =>
					median(costs[receiver].map((cost) => cost[part] ?? 0));
				return SHARES.map(({ of, receiver, name }) => {
					const all = computeCost(receiver, 'all');
					const main = computeCost(receiver, 'main');
					const counted = of === receiver ? main * computeCost(receiver, OWN) : all;
					const shares = PARTS.map(
						(part) => `${part} ${(100 * computeCost(receiver, part)).toFixed(1)} %`,
					);
					const details = of === 'withDetails' ? 'with details' : 'without details';
					return {
						name: `Of the processor time of a callback ${details}, ${name}`,
						value: counted / computeCost(of, 'all'),
						figures: `${all.toFixed(1)} ms, ${(all - main).toFixed(1)} ms of it in other threads; of the main thread ${shares.join(', ')}; medians of ${ROUNDS} rounds of ${CALLBACKS}, ${IN_FLIGHT} in flight`,
					};
				});
			}),
		INSPECTABLE,
	);
