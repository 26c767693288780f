import { setTimeout as pause } from 'node:timers/promises';
import { diagnoseCallback } from '../nodes/MediaGeneration/callback/diagnose.ts';
import { getSigningSecrets } from '../nodes/MediaGeneration/callback/signature.ts';
import { checkForm, DEFAULT_TOLERANCE_SECONDS } from '../nodes/MediaGeneration/callback/verify.ts';
import type { CreateTaskRequest } from '../nodes/MediaGeneration/api/client.ts';
import { ENDPOINTS, type Credentials } from '../nodes/MediaGeneration/api/endpoints.ts';
import { UnknownOutcomeError } from '../nodes/MediaGeneration/api/errors.ts';
import { isObject } from '../nodes/MediaGeneration/lib/json.ts';
import { isWebUrl } from '../nodes/MediaGeneration/lib/isWebUrl.ts';
import { taskRecord, toStatus, type Task } from '../nodes/MediaGeneration/api/task.ts';
import type { Client } from './client.cts';
import { fetchFile } from './free.cts';
import type { Callback } from './listen.cts';
import { ask, Difference, listIgnored, readData, SETTINGS, toIgnoredRows } from './questions.cts';
import type { Recording } from './recording.cts';
import type { Row } from './report.cts';

export interface PaidOptions {
	request: CreateTaskRequest;
	/** Waits for a callback, up to this number of seconds; absent: none is asked for. */
	waitForCallback?: (seconds: number) => Promise<Callback | undefined>;
	/** In seconds. */
	pollEvery: number;
	limit: number;
	/** How long to wait for the callback after the task's end. */
	callbackWithin: number;
	log: (line: string) => void;
}

const DETAILS = ENDPOINTS.taskDetailsPath.displayName.replace(' Path', '');
/** Seconds read as milliseconds are dates of 1970. */
const IN_MILLISECONDS = Date.parse('2020-01-01');

/** Tells whether a list has the state. One that none has counts as what the caller says. */
const isKnownState = (state: string) => toStatus(state, 'completed') === toStatus(state, 'failed');

/** Tells whether the record says by its times that the task has ended, whatever its state. */
const hasCompleteTime = (data: unknown) => isObject(data) && Number(data.completeTime) > 0;

/** Creates one task, which costs credits, and watches it to its end. */
export async function watchPaidTask(
	credentials: Credentials,
	client: Client,
	recording: Recording,
	options: PaidOptions,
): Promise<Row[]> {
	const { request, waitForCallback, log } = options;
	const { service } = client;
	if (request.callBackUrl) recording.replace(request.callBackUrl, '{callBackUrl}');
	let taskId = '';
	const rows = await ask(
		client,
		{
			asked: 'Create Task',
			expected: 'code 200, and the ID in data.taskId',
			consequence:
				'No task is created, or its ID is not found. The message says which. If it is unknown whether there is a task, look at your account.',
			ask: async () => {
				const id = await service.createTask(request, SETTINGS).catch((error: unknown) => {
					if (error instanceof UnknownOutcomeError)
						throw new Difference(`${error.message}. ${error.description}`);
					throw error;
				});
				recording.replace(id, '{taskId}');
				const { model, input } = request;
				if (client.last) recording.add('create', client.last, { model, input });
				log(`created task ${id}`);
				taskId = id;
				return 'a task ID';
			},
		},
		recording,
	);
	if (!taskId) return rows;
	const { ended, states, rows: watched } = await watch(client, taskId, recording, options);
	rows.push(...watched);
	const task = ended?.task;
	if (task) rows.push(...(await judgeEnd(task, ended.callbackUrl, request, states)));
	rows.push(await judgeCallback(credentials, recording, waitForCallback, options, task));
	return rows;
}

type Ended = { task: Task; callbackUrl?: string };

/** Asks for the details of a task until it has ended, and tells of its states. */
async function watch(
	client: Client,
	taskId: string,
	recording: Recording,
	{ pollEvery, limit, log }: PaidOptions,
): Promise<{ ended?: Ended; states: string[]; rows: Row[] }> {
	const states: string[] = [];
	const until = Date.now() + limit * 1000;
	let ended: Ended | undefined;
	const question = {
		asked: DETAILS,
		expected: 'the record of this task in data, with its state',
		consequence: 'Get ends with an error, and a wait goes on until its limit.',
		ask: async () => {
			for (;;) {
				const known = await service.getTaskAndCallbackUrl(taskId, SETTINGS);
				const { state = String(known.task.failCode), status } = known.task;
				const isEnd = status !== 'pending' || hasCompleteTime(readData(client));
				if (!states.includes(state)) {
					states.push(state);
					log(`task ${taskId} is ${state}`);
					if (client.last) recording.addDetails(client.last);
				}
				if (isEnd) {
					ended = known;
					return states.join(', ');
				}
				if (Date.now() > until)
					throw new Difference(`no end within ${limit} s: ${states.join(', ')}`);
				await pause(pollEvery * 1000);
			}
		},
	};
	const { service } = client;
	const rows = await ask(client, question, recording);
	const record = taskRecord.safeParse(readData(client)).data;
	if (record) rows.push(...toIgnoredRows(DETAILS, listIgnored(readData(client), record)));
	return { ended, states, rows };
}

/** Judges what the service says of a task that has ended. */
async function judgeEnd(
	task: Task,
	callbackUrl: string | undefined,
	request: CreateTaskRequest,
	states: string[],
): Promise<Row[]> {
	const unknown = states.filter((state) => task.state !== undefined && !isKnownState(state));
	const links = task.resultUrls ?? [];
	const blank = links.filter((link) => !isWebUrl(link)).length;
	const file = await fetchFirst(links);
	const row = (
		asked: string,
		expected: string,
		came: string,
		isSame: boolean,
		consequence: string,
	): Row => ({ asked, expected, came, consequence, verdict: isSame ? 'same' : 'different' });
	return [
		row(
			`${DETAILS}, states`,
			'states that are known',
			unknown.length ? `unknown: ${unknown.join(', ')}` : states.join(', '),
			!unknown.length,
			'An unknown state counts as a task that runs. If it is an end, waits go on until their limit.',
		),
		...(task.status === 'completed'
			? [
					row(
						`${DETAILS}, result`,
						'links to the files of a completed task',
						links.length
							? `${links.length} links, ${blank} of them no URL`
							: 'no link that is known',
						links.length > 0 && !blank,
						'Completed tasks come out without their files: there is nothing to download.',
					),
				]
			: []),
		...(task.status === 'failed'
			? [
					row(
						`${DETAILS}, reason`,
						'failCode or failMsg of a failed task',
						[task.failCode, task.failMessage].filter(Boolean).join(': ') || 'neither',
						Boolean(task.failCode ?? task.failMessage),
						'A failed task does not say why.',
					),
				]
			: []),
		...(file
			? [
					row(
						'A result file',
						'a file, without the token',
						file,
						file.endsWith('bytes'),
						'Results are not downloaded.',
					),
				]
			: []),
		row(
			`${DETAILS}, times`,
			'createTime in milliseconds',
			task.createdAt ?? 'none',
			Date.parse(task.createdAt ?? '') > IN_MILLISECONDS,
			'createdAt and completedAt are missing, or wrong.',
		),
		{
			...row(
				`${DETAILS}, request`,
				'the callback URL in param',
				callbackUrl === request.callBackUrl ? 'as it was given' : 'another, or none',
				callbackUrl === request.callBackUrl,
				"A trigger can't tell that a callback was meant for another trigger with the same key.",
			),
			...(callbackUrl === undefined && request.callBackUrl && { verdict: 'ignored' as const }),
		},
	];
}

async function fetchFirst([link]: string[]): Promise<string | undefined> {
	if (!link || !isWebUrl(link)) return undefined;
	return await fetchFile(link).then(
		({ length }) => `${length} bytes`,
		(error: Error) => error.message,
	);
}

/** Judges the callback of a task, as the trigger does. */
async function judgeCallback(
	credentials: Credentials,
	recording: Recording,
	waitForCallback: PaidOptions['waitForCallback'],
	{ callbackWithin }: PaidOptions,
	task?: Task,
): Promise<Row> {
	const row = {
		asked: 'Callback',
		expected: 'signed with the key, for data.task_id, as in the contract',
		consequence:
			'The trigger refuses callbacks, or none arrives: choose Polling, or look at the reason.',
	};
	const secrets = getSigningSecrets(credentials);
	if (!waitForCallback || !secrets)
		return {
			...row,
			came: waitForCallback
				? 'there is no HMAC key to verify with'
				: 'no --listen and --public-url',
			verdict: 'not tried',
		};
	const callback = await waitForCallback(callbackWithin);
	if (!callback) return { ...row, came: `none within ${callbackWithin} s`, verdict: 'different' };
	const { headers, body, receivedAt: now } = callback;
	recording.addCallback(headers['content-type'], body);
	const settings = { secrets, toleranceSeconds: DEFAULT_TOLERANCE_SECONDS, now };
	const diagnosis = diagnoseCallback(headers, body, settings);
	const form = checkForm(headers, body, { isSigned: true, ...settings });
	const claimed = 'reason' in form ? undefined : form.claimedStatus;
	const isAsClaimed = !task || claimed === task.status;
	const came = !diagnosis.genuine
		? diagnosis.message
		: isAsClaimed
			? diagnosis.message
			: `It says ${claimed}, and the details say ${task.status}`;
	return { ...row, came, verdict: diagnosis.genuine && isAsClaimed ? 'same' : 'different' };
}
