import type { UnknownOutcome } from '../../api/failure';
import type { Call } from '../../host/call';
import { readResumeSecrets } from '../../host/resumeUrl';
import { CREDENTIAL } from '../../lib/brand';
import { digest } from '../../lib/json';
import { Memory } from '../../lib/memory';
import { copyForPayment, type Ledger, mergeEntry, Shared } from './ledger';

/** The calls of a run that send for an item, by item: the last one in the line. */
export type Locks = Map<number, Promise<unknown>>;

/** What this process knows of a run, without its sleep: only what n8n has stored can sleep. */
type Known = Pick<Ledger, 'entries' | 'sleeps' | 'shared' | 'settings' | 'unknownCounts'>;

/** A run of this process. */
interface RunHere {
	ledger: Known;
	/** The ledgers of the calls that are under way. All have the same entries. */
	underway: Set<Ledger>;
	/** Never stored, so that no call waits for a process that has crashed. */
	locks: Locks;
}

/** What identifies a run of the node. */
type RunId = Pick<Ledger, 'executionId' | 'runIndex'>;

/**
 * The runs of this process. Where an execution waits long for a slot of the concurrency limit, n8n
 * may run it again with the data of before (`wait-tracker.js`, 2.41.1): its tasks exist all the same.
 */
const runsHere = new Memory<RunHere>(
	'runs',
	({ underway, locks }) => underway.size + locks.size > 0,
);

/** @returns the locks that this call shares with others of the same run */
export function noteRunHere(call: Call, ledger: Ledger): Locks {
	const key = identifyRun(call, ledger);
	const { locks = new Map() as Locks, underway = new Set<Ledger>() } = runsHere.get(key) ?? {};
	if (!key) return locks;
	const itemCount = call.context.getInputData().length;
	runsHere.set(key, { ledger, underway: underway.add(ledger), locks }, itemCount);
	return locks;
}

/**
 * Notes that a call of a run is over. After the last one, only a copy of what decides a payment is kept:
 * results may have megabytes, and a later call has them stored or asks the service again.
 */
export function leaveRun(call: Call, ledger: Ledger): void {
	const here = runsHere.get(identifyRun(call, ledger));
	if (!here?.underway.delete(ledger) || here.underway.size) return;
	const { entries, ...others } = pickKnown(here.ledger);
	here.ledger = { entries: entries.map(copyForPayment), ...others };
}

/** Runs what sends for an item, once no other call of the run does. */
export async function withLock<T>(locks: Locks, item: number, work: () => Promise<T>): Promise<T> {
	const before = locks.get(item);
	const own = before ? before.then(work, work) : work();
	locks.set(item, own);
	try {
		return await own;
	} finally {
		// The run is remembered for long, a lock that was taken is not.
		if (locks.get(item) === own) locks.delete(item);
	}
}

/**
 * Merges the stored ledger of a run with what this process knows, which may be newer. Both then share
 * one list of entries, so that two calls never create the same task, nor more tasks than Options allow.
 */
export function catchUp(call: Call, ledger: Ledger): void {
	const { ledger: here, underway } = runsHere.get(identifyRun(call, ledger)) ?? {};
	if (!here || here.entries === ledger.entries) return;
	// A call under way holds the entries of this process. Otherwise they are a copy, without results.
	const [entries, copies] = underway?.size
		? [here.entries, ledger.entries]
		: [ledger.entries, here.entries];
	for (const [item, copy] of copies.entries()) mergeEntry((entries[item] ??= copy), copy);
	ledger.entries = entries;
	here.shared.count = Math.max(ledger.shared.count, here.shared.count);
	ledger.shared = here.shared;
	// The stored counts may be older: those of this process win.
	const counts = (here.unknownCounts ??= {});
	ledger.unknownCounts = Object.assign(counts, { ...ledger.unknownCounts, ...counts });
}

/** What this process knows of a run; undefined where it knows nothing. */
export function findRunHere(call: Call, id: RunId): Known | undefined {
	const here = runsHere.get(identifyRun(call, id))?.ledger;
	return here && pickKnown(here);
}

const pickKnown = ({ entries, sleeps, shared, settings, unknownCounts }: Known): Known => ({
	...{ entries, sleeps, shared, settings, unknownCounts },
});

/** Identifies a run by n8n's secret of the execution; blank without one, and for an agent's calls. */
function identifyRun({ context, isTool }: Call, { executionId, runIndex }: RunId): string {
	const { token } = readResumeSecrets(context);
	if (!token || isTool) return '';
	return digest([token, executionId, context.getNode().name, runIndex]);
}

/** Calls without an execution are one run for so long, in milliseconds. */
const SHARED_FOR = 3_600_000;
const sharedByTool = new Memory<Shared & { until: number }>('tools');

/** Without an execution, this process keeps what the calls of a tool share, by its parameters. */
export function openShared({ context, nodeContext }: Call): Shared {
	const begun = { count: 0, unknownCalls: {} };
	if (nodeContext) return begun;
	const { parameters, credentials } = context.getNode();
	const tool = digest([parameters, credentials?.[CREDENTIAL]]);
	const known = sharedByTool.get(tool);
	if (known && known.until > Date.now()) return known;
	const shared = { ...begun, until: Date.now() + SHARED_FOR };
	sharedByTool.set(tool, shared);
	return shared;
}

/** Finds why it's unknown whether a task was created for what an agent asks for again. */
export const findUnknownCall = (
	call: Call,
	{ unknownCalls }: Shared,
	item: number,
): UnknownOutcome | undefined => (call.isTool ? unknownCalls[digestCall(call, item)] : undefined);

export function noteUnknownCall(
	call: Call,
	{ unknownCalls }: Shared,
	item: number,
	unknown: UnknownOutcome,
): void {
	if (call.isTool) unknownCalls[digestCall(call, item)] = unknown;
}

/** Digests what an agent's model asked for. n8n numbers its calls; the number is left out. */
const digestCall = ({ context }: Call, item: number): string =>
	digest({ ...context.getInputData()[item]?.json, toolCallId: undefined });
