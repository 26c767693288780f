import type { Ledger } from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { openRun } from '../../../nodes/MediaGeneration/run/run';
import { sendAll } from '../../../nodes/MediaGeneration/run/send/send';
import { buildCall, prepare, type RunSetup } from '../n8n';

type Run = ReturnType<typeof openRun>;

/** An item, by its service, Options and credential. */
export type ItemToSend = Parameters<typeof prepare>[2];

export interface Sending extends RunSetup {
	/** What the ledger has before. */
	ledger?: Partial<Ledger>;
	/** How long ago n8n called the node, in milliseconds. */
	before?: number;
	/** Until when its answer is wanted, from now, in milliseconds. */
	within?: number;
	/** Parts of n8n's context. */
	more?: Parameters<typeof buildCall>[1];
}

/** Opens a run of this many items. */
export function open(count: number, { ledger, before = 0, within, more, ...run }: Sending = {}) {
	const input = Array.from({ length: count }, () => ({}));
	const call = buildCall({ input, ...run }, more);
	call.calledAt -= before;
	if (within !== undefined) call.answerBy = Date.now() + within;
	const opened = openRun(call);
	Object.assign(opened.ledger, ledger);
	return opened;
}

/** Creates a task for each item. */
export async function send(items: ItemToSend[], sending: Sending = {}): Promise<Run> {
	const run = open(items.length, sending);
	const creations = items.map((item, index) => prepare(run.call.context, index, item));
	await sendAll(run, creations);
	return run;
}

/** What came of each item: the ID of its task, an error, or nothing. */
export const listResults = ({ ledger, errors }: Run): unknown[] =>
	ledger.entries.map(({ attempts }, item) => errors.get(item) ?? attempts.at(-1)?.taskId);
