import type { IExecuteFunctions } from 'n8n-workflow';
import { isTool } from '../host/execution';
import { readResumeSecrets } from '../host/resumeUrl';
import { BoundedMap } from '../lib/boundedMap';
import { digest } from '../lib/json';
import {
	beginRecord,
	countCreations,
	type RunPlace,
	type SentItem,
	type StoredRecord,
} from './ledger';
import type { Wait } from '../operations/record/wait';

/** The calls of a run that send for an item, by item: the last one in the line. */
export type Turns = Map<number, Promise<unknown>>;

/** What this process knows of a run. Its sleep is none of it: only what n8n has stored sleeps. */
type RunHere = Pick<StoredRecord, 'sent' | 'shared'> & {
	settings?: Wait['settings'];
	/** n8n never stores who has his turn, so nobody waits for a process that has crashed. */
	turns: Turns;
};

/**
 * The runs of this process. Where an execution waits long for a slot of the concurrency limit, n8n
 * may run it again with the data of before (`wait-tracker.js`, 2.41.1): its tasks exist all the same.
 */
const runsHere = new BoundedMap<string, RunHere>(10_000);

/** @returns the turns that this call shares with others of the same run */
export function noteRunHere(context: IExecuteFunctions, record: StoredRecord): Turns {
	const key = identifyRun(context, record);
	const { sent, shared, wait } = record;
	const { turns } = runsHere.get(key) ?? { turns: new Map() as Turns };
	if (key) runsHere.set(key, { sent, shared, settings: wait?.settings, turns });
	return turns;
}

/** Runs what sends for an item, once no other call of the run does. */
export async function takeTurn<T>(turns: Turns, item: number, run: () => Promise<T>): Promise<T> {
	const before = turns.get(item);
	const turn = before ? before.then(run, run) : run();
	turns.set(item, turn);
	try {
		return await turn;
	} finally {
		// A run is remembered for long, so its turns aren't.
		if (turns.get(item) === turn) turns.delete(item);
	}
}

/**
 * Adds what this process knows of a run to its record, which n8n may have stored before that. Both
 * then share what was sent, so that no two runs create the same task.
 */
export function catchUp(context: IExecuteFunctions, record: StoredRecord): void {
	const here = runsHere.get(identifyRun(context, record));
	if (!here || here.sent === record.sent) return;
	for (const [index, sent] of Object.entries(record.sent)) {
		const item = Number(index);
		if (isLater(sent, here.sent[item])) here.sent[item] = sent;
	}
	record.sent = here.sent;
	record.shared.count = Math.max(record.shared.count, here.shared.count);
}

/** Says whether something was sent, or has ended, after what is known. */
function isLater(sent: SentItem, known?: SentItem): boolean {
	if (!known) return true;
	const more = countCreations(sent) - countCreations(known);
	if (more !== 0) return more > 0;
	return sent.failed !== undefined && known.failed === undefined;
}

/** Makes the record of a run from what this process knows of it; undefined where it knows nothing. */
export function findRunHere(context: IExecuteFunctions, place: RunPlace): StoredRecord | undefined {
	const here = runsHere.get(identifyRun(context, place));
	if (!here) return undefined;
	const { sent, shared, settings } = here;
	return beginRecord(place, { sent, shared, wait: settings ? { settings } : undefined });
}

/** Identifies a run by n8n's secret of the execution; blank without one, and for an agent's calls. */
function identifyRun(context: IExecuteFunctions, { executionId, run }: RunPlace): string {
	const { token } = readResumeSecrets(context);
	if (!token || isTool(context)) return '';
	return digest([token, executionId, context.getNode().name, run]);
}
