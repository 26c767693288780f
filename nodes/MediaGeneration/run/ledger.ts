import { UserError, type IDataObject } from 'n8n-workflow';
import type { UnknownOutcome } from '../api/failure';
import { findPrompt } from '../api/task';
import { toWords } from '../lib/fileName';
import { digest } from '../lib/json';
import { mayCreateAgain, type FailedTask } from './failedTask';
import type { CreateRequest } from '../operations/operation';
import type { Shared } from './shared';
import type { Wait } from '../operations/record/wait';

/**
 * The version of what n8n stores. An execution may sleep while the package is updated, so every later
 * version reads `dev/fixtures/sleepingRecord.json`.
 */
const VERSION = 1;

/** The entry of the node's context. */
const ENTRY = 'run';

/** What was sent for one item: the task's ID, or why it's unknown whether a task was created. */
export interface SentItem {
	/** Digest of the request. */
	request: string;
	model: string;
	/** What may be a mistake in the request. */
	warning?: string;
	/** The first words of its prompt, for the names of its files. */
	words?: string;
	taskId?: string;
	unknown?: UnknownOutcome;
	/** How the task ended, if it failed. */
	failed?: FailedTask;
	/** n8n got it as the error of its item in this execution. */
	handed?: true;
	/** The failed tasks of the item that Retry On Fail created again, the oldest first. */
	before?: string[];
	/** It is of an earlier execution, and the service calls that one's resume URL. */
	elsewhere?: boolean;
}

export const digestRequest = ({ model, input }: CreateRequest): string => digest([model, input]);

/** Makes what is kept of a request. */
export const noteRequest = (request: CreateRequest): SentItem => ({
	request: digestRequest(request),
	model: request.model,
	warning: request.warning,
	words: toWords(findPrompt(request.input) ?? ''),
});

/** Says whether the item's task failed, and can't end otherwise any more. */
export const hasFailedForGood = ({ failed }: SentItem): boolean =>
	failed !== undefined && mayCreateAgain(failed);

/** Counts the tasks that the item has got, one after the other. */
export const countCreations = ({ before = [] }: SentItem): number => before.length + 1;

/** The unknown outcomes of an account's creations in a run, by which its further ones are stopped. */
export interface Doubts {
	/** How many in a row, without those that may be refusals. */
	inARow: number;
	/** How many that may be refusals, since the last task. */
	perhapsRefused: number;
	/** What the last one said. */
	message?: string;
}

/** What n8n keeps with the execution. */
export interface StoredRecord {
	version: typeof VERSION;
	run: number;
	executionId: string;
	/** By item, like all that is kept of items. */
	sent: Record<number, SentItem>;
	/** By account. */
	doubts?: Record<string, Doubts>;
	wait?: Wait;
	/** What the executions sent that this one retries. */
	earlier?: StoredRecord['sent'];
	shared: Shared;
}

/** What identifies a run of the node. */
export type RunPlace = Pick<StoredRecord, 'executionId' | 'run'>;

export const beginRecord = (
	place: RunPlace,
	known: Pick<StoredRecord, 'shared'> & Partial<StoredRecord>,
): StoredRecord => ({ version: VERSION, sent: {}, ...known, ...place });

/**
 * Reads the record in a node's context; undefined where there is none.
 * @throws {UserError} when another version of the package has stored it
 */
export function readRecord(kept: IDataObject | undefined): StoredRecord | undefined {
	const stored = kept?.[ENTRY] as StoredRecord | undefined;
	if (!stored || stored.version === VERSION) return stored;
	throw new UserError(
		`Nothing was created: another version of this package keeps what the execution has sent in a form (version ${String(stored.version)}) that this one can't read`,
		{
			description:
				'Install the version of the package that the execution began with, or a newer one, then retry the execution. Before you start it anew, look at the recent tasks of your account with the service.',
		},
	);
}

export function storeRecord(kept: IDataObject, record: StoredRecord): void {
	kept[ENTRY] = record as unknown as IDataObject;
}
