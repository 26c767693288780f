import type { TaskService } from '../api/client';
import { readRunIndex, type Call } from '../host/call';
import { showInExecution } from '../host/customData';
import { NODE_NAME } from '../lib/brand';
import type { WaitDecision } from './decide';
import { restoreError } from './errors';
import type { Files } from './files';
import { catchUp, findRunHere, noteRunHere, type Turns } from './here';
import { readService } from './item';
import {
	beginLedger,
	listTaskIds,
	readLedger,
	stateOf,
	storeLedger,
	type Entry,
	type Ledger,
} from './ledger';
import type { Looks } from './look';
import { openShared } from './shared';

/** A run of the node in one call by n8n: what is stored of it, and what this call alone knows. */
export interface Run {
	call: Call;
	ledger: Ledger;
	/** A webhook has woken the execution. Such a call creates nothing. */
	isWoken: boolean;
	turns: Turns;
	/** The service, by the credential of an item, which is read when it is needed. */
	getService: (item: number) => Promise<TaskService>;
	/** Why items have no task, or no further one, in this call; by item. */
	errors: Map<number, unknown>;
	/** Why Retry On Fail did not create an item's failed task again, without a period; by item. */
	notAgain: Map<number, string>;
	/** Why the run as a whole can't go on. */
	refusal?: { error: unknown };
	/** How the run waits. */
	decision: WaitDecision;
	/** Present once it waits awake, like the next one. */
	looks?: Looks;
	files?: Files;
}

/** Opens a run: the same one, that of the execution which this one retries, or a new one. */
export function openRun(call: Call): Run {
	try {
		const ledger = openLedger(call);
		return continueRun(beginRun(call, ledger, noteRunHere(call, ledger)));
	} catch (error) {
		const blank = beginLedger({ executionId: '', run: 0, shared: openShared(call) });
		return { ...beginRun(call, blank), refusal: { error } };
	}
}

/** Begins a call of a run, with its ledger. */
export function beginRun(call: Call, ledger: Ledger, turns: Turns = new Map()): Run {
	const services = new Map<number, Promise<TaskService>>();
	const getService = async (item: number): Promise<TaskService> => {
		const service = services.get(item) ?? readService(call.context, item);
		services.set(item, service);
		return await service;
	};
	const known = { errors: new Map(), notAgain: new Map() };
	return { call, ledger, isWoken: false, turns, getService, ...known, decision: {} };
}

/** Takes what the ledger has of a sleep. A run that no webhook has woken sleeps on. */
function continueRun(run: Run): Run {
	const { call, ledger, errors } = run;
	const { sleep } = ledger;
	if (sleep && !sleep.woken) return run;
	for (const [item, error] of Object.entries(sleep?.errors ?? {}))
		errors.set(Number(item), restoreError(error));
	// n8n need not store it any longer.
	delete ledger.sleep;
	for (const item of call.context.getInputData().keys()) ledger.entries[item] ??= { attempts: [] };
	call.signal?.addEventListener('abort', () => showTaskIds(run), { once: true });
	return { ...run, isWoken: sleep !== undefined };
}

/** @throws {UserError} when another version of the package has stored it */
function openLedger(call: Call): Ledger {
	// What n8n keeps under the number of a call that it mixes up is another call's.
	const kept = call.isMixedUp ? undefined : call.kept;
	const ledger = continueLedger(readLedger(kept), call);
	if (kept) storeLedger(kept, ledger);
	return ledger;
}

function continueLedger(before: Ledger | undefined, call: Call): Ledger {
	const { executionId } = call;
	const run = readRunIndex(call);
	// A call of an MCP server has no execution ID, and must not look like an earlier execution.
	const isSameExecution = before?.executionId === executionId;
	if (isSameExecution && before.run === run) {
		catchUp(call, before);
		return before;
	}
	const here = findRunHere(call, { executionId, run });
	if (here) return beginLedger({ executionId, run, ...here });
	const shared = isSameExecution ? before.shared : openShared(call);
	const isRetry = !isSameExecution && before?.run === run;
	const earlier = isRetry
		? before.entries.map((entry, item) => findEarlier(before, entry, item))
		: undefined;
	return beginLedger({ executionId, run, shared, earlier });
}

/** An execution that a retry of a retry ends before it sends keeps what was sent before. */
const findEarlier = ({ earlier }: Ledger, entry: Entry, item: number): Entry =>
	stateOf(entry) === 'new' ? (earlier?.[item] ?? entry) : entry;

function showTaskIds({ call, ledger }: Run): void {
	const taskIds = listTaskIds(ledger.entries).join(', ');
	if (taskIds) showInExecution(call.context, `${NODE_NAME.replace(/\W+/g, '_')}_tasks`, taskIds);
}
