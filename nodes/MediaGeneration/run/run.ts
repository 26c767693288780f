import { UserError } from 'n8n-workflow';
import type { TaskService } from '../api/client';
import type { Call } from '../host/call';
import type { Downloads } from './files/taskFiles';
import { readService } from './input/item';
import { beginLedger, endSleep } from './ledger/changes';
import { type Entry, type OpenedCall, statusOf } from './ledger/ledger';
import { openLedger } from './ledger/openLedger';
import type { Looks } from './looks';
import type { WaitTimes } from './timetable';

/** A run of the node in one call by n8n: what is stored of it, and what this call alone knows. */
export interface Run extends OpenedCall {
	/** A webhook has woken the execution. Such a call creates nothing. */
	isWoken: boolean;
	/** The service, by the credential of an item, which is read when it is needed. */
	getService: (item: number) => Promise<TaskService>;
	/** Why items have no task, or no further one, in this call; by item. */
	errors: Map<number, unknown>;
	/** The service has not said in time what a task costs, and isn't asked again in this call. */
	isCostUnknown?: true;
	/** Why the run as a whole can't go on. */
	fatal?: { error: unknown };
	/** How the run waits. */
	decision: WaitDecision;
	/** Present once the run waits awake. */
	looks?: Looks;
	/** Present once the run waits awake. */
	files?: Downloads;
	/** Present once the run waits awake. */
	times?: WaitTimes;
}

/** How a run waits. */
export interface WaitDecision {
	/** The URL that wakes the execution, which sleeps; absent if the run stays awake. */
	resumeUrl?: string;
	/** What may keep callbacks away from an execution that sleeps, as the end of a sentence. */
	obstacle?: string;
	/** Why the run stays awake, as the end of a sentence; absent if the user knows. */
	reason?: string;
}

/** Opens the run of a call, with the errors that its items had before a sleep. Nothing is thrown. */
export function openRun(call: Call): Run {
	try {
		const run = buildRun({ call, ledger: openLedger(call) });
		const sleep = endSleep(run.ledger);
		for (const [item, { message, description }] of Object.entries(sleep?.errors ?? {}))
			run.errors.set(Number(item), new UserError(message, { description }));
		return { ...run, isWoken: sleep !== undefined };
	} catch (error) {
		const entries = call.context.getInputData().map(() => ({ attempts: [] }));
		return { ...buildRun({ call, ledger: beginLedger({ entries }) }), fatal: { error } };
	}
}

/** Builds what a call knows of its run, with this ledger. */
export function buildRun({ call, ledger }: OpenedCall): Run {
	const services = new Map<number, Promise<TaskService>>();
	const getService = async (item: number): Promise<TaskService> => {
		const service = services.get(item) ?? readService(call.context, item);
		services.set(item, service);
		// A credential that n8n failed to read may be readable later.
		service.catch(() => services.delete(item));
		return await service;
	};
	return { call, ledger, isWoken: false, getService, errors: new Map(), decision: {} };
}

/*
 * When an error ends a run (On Error, Failed Tasks). A failed task is no error here. `isErrorIfFailed` says
 * whether the task becomes one at the output.
 */

/**
 * Says whether an item has an error: nothing more is created for the item, or it is unknown whether a task
 * was created.
 */
export const hasError = ({ errors, ledger }: Run, item: number): boolean =>
	errors.has(item) || statusOf(ledger.entries[item] as Entry) === 'unknown';

/** Finds an item whose task is waited for. @returns -1 if there is none */
export const findPending = ({ errors, ledger }: Run): number =>
	ledger.entries.findIndex((entry, item) => !errors.has(item) && statusOf(entry) === 'pending');

/** Says whether the run ends before it waits: it was stopped, or an error ends it. */
export function endsBeforeWait(run: Run): boolean {
	const { call, ledger, fatal } = run;
	if (fatal || call.signal?.aborted) return true;
	return call.stopsOnError && ledger.entries.some((_, item) => hasError(run, item));
}

/** Says whether a failed task is the error of its item. An agent, or n8n's assistant, reads its status. */
export const isErrorIfFailed = ({ call, ledger }: Run): boolean =>
	call.audience === 'workflow' && ledger.settings?.failedTasks === 'error';
