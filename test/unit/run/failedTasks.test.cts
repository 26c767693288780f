import {
	AWAKE_OR_ASLEEP,
	buildWorld,
	runAndCheck,
	SECOND,
	type FateName,
	type ItemFates,
} from '../../world/live.cts';

/** What becomes of the first item's task. The second one's is good. */
const WHAT = ['failed', 'endless', 'silent', 'expired'] as const satisfies readonly FateName[];
const ON_ERROR = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const;
const CALLS = ['first', 'retryOnFail', 'retryFromList'] as const;
const FAILED_TASKS = ['error', 'output'] as const;

const rows = WHAT.flatMap(
	(what) =>
		ON_ERROR.flatMap((onError) =>
			AWAKE_OR_ASLEEP.flatMap((howToWait) =>
				CALLS.flatMap((call) =>
					FAILED_TASKS.map((failedTasks) => ({ what, onError, howToWait, call, failedTasks })),
				),
			),
		),
	// A run without an error can't be retried.
).filter(({ what, call }) => what !== 'expired' || call !== 'retryFromList');
type Row = (typeof rows)[number];

const NOT_ENDED = 'The task had not ended when the wait was over';

/** The status of each task, and what its error says. */
const ENDS = {
	failed: ['failed', 'The task failed: blocked task-0-1z (code 501)'],
	endless: ['timedOut', NOT_ENDED],
	silent: ['timedOut', `${NOT_ENDED}. The last look failed: The service had an internal fault`],
	expired: ['completed', ''],
} as const;

/** Runs a row. A retry has the row's settings only then. */
async function runRow({ what, onError, howToWait, call, failedTasks }: Row) {
	const settings = { onError, failedTasks };
	const failing = { onError: 'stopWorkflow', failedTasks: 'error' } as const;
	return await runAndCheck(
		buildWorld([what, 'good'], {
			howToWait,
			downloads: true,
			maxTries: call === 'retryOnFail' ? 2 : 0,
			...(call === 'retryFromList' ? { ...failing, retries: [settings] } : settings),
		}),
	);
}

it.each(rows)(
	'a task that is $what, On Error $onError, $howToWait, $call, Failed Tasks $failedTasks, is created again only by Retry On Fail, and is the error of its item only where it should be',
	async (row) => {
		const { what, onError, call, failedTasks } = row;
		const isError = failedTasks === 'error' && what !== 'expired';
		const isPaidAgain = isError && call === 'retryOnFail' && what === 'failed';
		const { world, execution, items, errors, error: thrown, sent } = await runRow(row);
		expect(sent).toEqual([isPaidAgain ? 2 : 1, 1]);
		// n8n repeats nothing else.
		expect(execution.outputs.length > 1).toBe(isError && call === 'retryOnFail');
		const taskId = isPaidAgain ? 'task-0-2z' : 'task-0-1z';
		const [status, words] = ENDS[what];
		const reason = words.replace('task-0-1z', taskId);
		const good = { taskId: 'task-1-1z', status: 'completed' };
		if (isError && onError === 'stopWorkflow') {
			expect(items).toEqual([]);
			expect(thrown?.message).toContain(reason);
			expect(thrown?.message).toMatch(/ \[item 1 of 2\]$/);
			expect(thrown?.description).toMatch(new RegExp(`Task ID: ${taskId}$`));
			expect(thrown?.description).toContain('task-1-1z');
			// No download begins once a task has failed.
			if (what === 'failed') expect(world.service.downloads).toEqual([]);
			return;
		}
		expect(thrown).toBeUndefined();
		const message = expect.stringMatching(new RegExp(`Task ID: ${taskId}$`)) as string;
		const error = { error: expect.not.stringContaining('[item') as string, message };
		if (isError) expect([...errors, ...items][0]?.json.error).toContain(reason);
		if (isError && onError === 'continueErrorOutput') {
			const details = expect.objectContaining({ taskId, status }) as object;
			expect(errors).toEqual([{ json: { item: 0, ...error, details }, pairedItem: { item: 0 } }]);
			expect(items).toMatchObject([{ json: good, pairedItem: { item: 1 } }]);
			return;
		}
		expect(errors).toEqual([]);
		expect(items).toMatchObject([
			{ json: { taskId, status, ...(isError && error) }, pairedItem: { item: 0 } },
			{ json: good, pairedItem: { item: 1 } },
		]);
		if (!isError) expect(items[0]?.json).not.toHaveProperty('error');
		expect(items.map(({ binary }) => binary !== undefined)).toEqual([false, true]);
	},
);

const asleep = ON_ERROR.flatMap((onError) =>
	FAILED_TASKS.flatMap((failedTasks) =>
		[0, 2].flatMap((maxTries) =>
			[false, true].map((isOld) => ({ onError, failedTasks, maxTries, isOld })),
		),
	),
);

// With `resumeError` in what it stores, n8n would fail each retry too (`workflow-execute.js`, 2.41.1).
it.each(asleep)(
	'a sleep that n8n ends by itself outputs what has not ended: On Error $onError, Failed Tasks $failedTasks, $maxTries tries, n8n before 2.34 $isOld',
	async (settings) => {
		const { onError, failedTasks } = settings;
		/** Both processes end, so that none knows of the sleep, and no callback comes. */
		const both = ['kill 0', 'kill 1'] as const;
		const accidents = both.map((what) => ({ when: { after: 10 * SECOND }, what }));
		const fates: ItemFates[] = ['endless', { callbacks: [] }];
		const { execution, items, errors, sent } = await runAndCheck(
			buildWorld(fates, { ...settings, accidents }),
		);
		expect(sent).toEqual([1, 1]);
		expect(execution.ended).toMatchObject([{ byN8n: true }]);
		const isError = failedTasks === 'error' && onError !== 'stopWorkflow';
		const isApart = isError && onError === 'continueErrorOutput';
		expect([items.length, errors.length]).toEqual(isApart ? [0, 2] : [2, 0]);
		expect([...items, ...errors].map(({ json }) => json)).toEqual(
			['task-0-1z', 'task-1-1z'].map((taskId) =>
				isError
					? {
							error: `${NOT_ENDED}. It may still end at the service: use Wait with this ID. Task ID: ${taskId}`,
						}
					: (expect.objectContaining({ taskId, status: 'timedOut' }) as object),
			),
		);
	},
);
