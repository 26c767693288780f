import { UserError } from 'n8n-workflow';
import type { TaskService } from '../api/client';
import { type Call, readRunIndex } from '../host/call';
import { readService } from './input/item';
import { catchUp, findRunHere, leaveRun, noteRunHere, openShared, type Locks } from './ledger/here';
import {
	beginLedger,
	type Entry,
	type Ledger,
	readLedger,
	statusOf,
	storeLedger,
} from './ledger/ledger';
import type { Run } from './run';

/** Does the work of a call in its run, and then leaves the run. */
export async function inRun<T>(call: Call, work: (run: Run) => Promise<T>): Promise<T> {
	const run = openRun(call);
	try {
		return await work(run);
	} finally {
		leaveRun(call, run.ledger);
	}
}

/** Opens a run: the same one, that of the execution which this one retries, or a new one. */
export function openRun(call: Call): Run {
	try {
		const ledger = openLedger(call);
		return continueRun(beginRun(call, ledger, noteRunHere(call, ledger)));
	} catch (error) {
		const entries = call.context.getInputData().map(() => ({ attempts: [] }));
		return { ...beginRun(call, beginLedger({ entries })), fatal: { error } };
	}
}

/** Begins a call of a run, with its ledger. */
export function beginRun(call: Call, ledger: Ledger, locks: Locks = new Map()): Run {
	const services = new Map<number, Promise<TaskService>>();
	const getService = async (item: number): Promise<TaskService> => {
		const service = services.get(item) ?? readService(call.context, item);
		services.set(item, service);
		// A credential that n8n failed to read may be readable later.
		service.catch(() => services.delete(item));
		return await service;
	};
	return { call, ledger, isWoken: false, locks, getService, errors: new Map(), decision: {} };
}

/** Takes the errors that the run had before it slept, if a webhook has woken it. */
function continueRun(run: Run): Run {
	const { call, ledger, errors } = run;
	const { sleep } = ledger;
	for (const [item, { message, description }] of Object.entries(sleep?.errors ?? {}))
		errors.set(Number(item), new UserError(message, { description }));
	// n8n need not store it any longer.
	delete ledger.sleep;
	for (const item of call.context.getInputData().keys()) ledger.entries[item] ??= { attempts: [] };
	return { ...run, isWoken: sleep !== undefined };
}

/** Keeps the settings of the first try that has some. */
export function openSettings({ call, ledger }: Run, read: () => Ledger['settings']): void {
	ledger.settings ??= read();
	noteRunHere(call, ledger);
}

/** @throws {UserError} when another version of the package has stored it */
function openLedger(call: Call): Ledger {
	// If n8n mixes up two tool calls, the context it hands us is the other call's.
	const kept = call.isMixedUp ? undefined : call.nodeContext;
	const ledger = continueLedger(readLedger(kept), call);
	if (kept) storeLedger(kept, ledger);
	return ledger;
}

function continueLedger(before: Ledger | undefined, call: Call): Ledger {
	const { executionId } = call;
	const runIndex = readRunIndex(call.context);
	// Calls of an MCP server have no execution ID: equal IDs are then no retry.
	const isSameExecution = before?.executionId === executionId;
	if (isSameExecution && before.runIndex === runIndex) {
		catchUp(call, before);
		return before;
	}
	const isRetry = !isSameExecution && before?.runIndex === runIndex;
	const earlier = isRetry ? listEarlier(before) : undefined;
	const place = { executionId, runIndex };
	const here = findRunHere(call, place);
	if (here) return beginLedger({ ...place, earlier, ...here });
	if (isSameExecution) {
		const { sleeps, shared, unknownCounts } = before;
		return beginLedger({ ...place, sleeps, shared, unknownCounts });
	}
	return beginLedger({ ...place, shared: openShared(call), earlier });
}

/** Lists the entries before this execution: those of the retried one, or of one that it retried in turn. */
function listEarlier({ entries, earlier = [] }: Ledger): Entry[] {
	const length = Math.max(entries.length, earlier.length);
	return Array.from({ length }, (_, item) => {
		const entry = entries[item] ?? { attempts: [] };
		return statusOf(entry) === 'new' ? (earlier[item] ?? entry) : entry;
	});
}
