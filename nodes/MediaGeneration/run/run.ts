import type { TaskService } from '../api/client';
import type { Call } from '../host/call';
import type { Files } from './files';
import type { Turns } from './here';
import type { Ledger } from './ledger';
import type { Looks } from './look';

/** How a run waits. */
export interface WaitDecision {
	/** The URL that wakes the execution, which sleeps; absent if it stays awake. */
	resumeUrl?: string;
	/** What may keep callbacks away from an execution that sleeps, as the end of a sentence. */
	obstacle?: string;
	/** Why it stays awake, as the end of a sentence; absent if the user knows. */
	reason?: string;
}

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
	/** Why the run as a whole can't go on. */
	refusal?: { error: unknown };
	/** How the run waits. */
	decision: WaitDecision;
	/** Present once it waits awake, like the next one. */
	looks?: Looks;
	files?: Files;
}
