import type { IExecuteFunctions } from 'n8n-workflow';
import type { TaskService } from '../../../nodes/MediaGeneration/api/client';
import type { Task } from '../../../nodes/MediaGeneration/api/task';
import type { Call } from '../../../nodes/MediaGeneration/host/call';
import {
	beginLedger,
	type Attempt,
	type Entry,
	type RunSettings,
} from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { beginRun } from '../../../nodes/MediaGeneration/run/open';
import { buildCall, fake, WAIT, type Run } from '../n8n';

interface Waiting extends Run {
	settings?: Partial<RunSettings>;
	/** When the tasks were created. */
	begun?: number;
	/** Answers the look of an item at its task. */
	getTask?: (taskId: string, item: number) => Promise<Task>;
	/** What n8n's timeout leaves of the time, in milliseconds since 1970. */
	deadline?: Call['deadline'];
	more?: Partial<Record<keyof IExecuteFunctions, unknown>>;
}

/** Makes the entry of an item whose task is known. */
export const buildEntry = (attempt: Attempt): Entry => ({
	request: { digest: '', model: 'model' },
	attempts: [attempt],
});

/** Builds a run of these entries that waits, and keeps its hints and lines of the log. */
export function buildWaiting(
	entries: Entry[],
	{
		settings,
		begun,
		getTask = async () => await Promise.reject(new Error('not asked')),
		deadline = Infinity,
		more,
		...run
	}: Waiting = {},
) {
	const hints: string[] = [];
	const log: string[] = [];
	const call = buildCall(
		{ input: entries.map((_, item) => ({ item })), ...run },
		{
			addExecutionHints: ({ message }: { message: string }) => hints.push(message),
			logger: { info() {}, warn: (line: string) => log.push(line) },
			...more,
		},
	);
	const ledger = beginLedger({ entries, begun, settings: { ...WAIT, ...settings } });
	const getService = async (item: number) =>
		fake<TaskService>({
			credentials: { baseUrl: 'https://api.example', accessToken: 'token' },
			getTask: async (taskId: string) => await getTask(taskId, item),
			getDownloadUrl: async () => await Promise.reject(new Error('no fresh link')),
		});
	return { ...beginRun({ ...call, deadline }, ledger), getService, hints, log };
}
