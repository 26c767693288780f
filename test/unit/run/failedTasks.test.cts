import type { Run } from '../n8n';
import {
	Account,
	NodeExecution,
	type Came,
	type Fate,
	type Settings,
} from '../run/failingRuns.cts';

/** What becomes of the first item's task. The second one's is good. */
const WHAT: Fate[] = ['failed', 'endless', 'silent', 'expired'];
const ON_ERROR = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const;
const WAYS = ['awake', 'woken'] as const;
const CALLS = ['first', 'retryOnFail', 'retryFromList'] as const;
const FAILED_TASKS = ['error', 'output'] as const;

/** Who calls the node: a workflow, or a model by one of n8n's kinds of agents. */
const CALLERS: Record<string, Run | undefined> = {
	'no tool': undefined,
	tool: { isTool: true },
	"the newest agent's tool": { type: 'mediaGenerationTool' },
	"a tool of n8n's Agents": { kept: null, type: 'mediaGenerationTool' },
};

const rows = WHAT.flatMap((what) =>
	ON_ERROR.flatMap((onError) =>
		WAYS.flatMap((way) =>
			CALLS.flatMap((call) =>
				FAILED_TASKS.flatMap((failedTasks) =>
					Object.keys(CALLERS).map((caller) => ({ what, onError, way, call, failedTasks, caller })),
				),
			),
		),
	),
).filter(
	({ way, call, caller }) =>
		// A tool never sleeps, and n8n's Agents have no list of executions.
		(caller === 'no tool' || way === 'awake') &&
		!(call === 'retryFromList' && caller === "a tool of n8n's Agents"),
);
type Row = (typeof rows)[number];

/** What stands in the error of each. */
const SAID: Partial<Record<Fate, string>> = {
	failed: 'The task failed: blocked task-0-1 (code 501)',
	endless: 'The task had not ended when the wait was over',
	silent:
		'The task had not ended when the wait was over. The last look failed: The service had an internal fault',
};
const STATUS: Partial<Record<Fate, string>> = {
	failed: 'failed',
	endless: 'timedOut',
	silent: 'timedOut',
	expired: 'completed',
};

/** Runs a row, and returns what came of its last run. */
async function live({ what, onError, way, call, failedTasks, caller }: Row) {
	const items: Fate[][] = [[what], ['good']];
	const account = new Account(items);
	const maxTries = call === 'retryOnFail' ? 2 : 0;
	const sleeps = way !== 'awake';
	const settings: Settings = {
		items,
		onError,
		maxTries,
		failedTasks,
		sleeps,
		agent: CALLERS[caller],
	};
	const execution = new NodeExecution(account, settings);
	const wakeAll = async (one: NodeExecution, came: Came): Promise<Came> =>
		way === 'woken' && came.sleeps ? await wakeAll(one, await one.wake()) : came;
	const first = await wakeAll(execution, await execution.run());
	if (call !== 'retryFromList') return { account, came: first };
	const retried = execution.retry();
	return { account, came: await wakeAll(retried, await retried.run()) };
}

describe.each(rows)(
	'a task that is $what, On Error $onError, $way, $call, Failed Tasks $failedTasks, $caller',
	(row) => {
		const { what, onError, call, failedTasks, caller } = row;
		const isError = failedTasks === 'error' && caller === 'no tool' && what !== 'expired';

		it('is created again only by Retry On Fail, and is the error of its item only where it should be', async () => {
			const { account, came } = await live(row);
			const isPaidAgain = isError && call === 'retryOnFail' && what === 'failed';
			expect(account.count()).toEqual([isPaidAgain ? 2 : 1, 1]);
			const said = SAID[what]?.replace('0-1', isPaidAgain ? '0-2' : '0-1') ?? '';
			const taskId = isPaidAgain ? 'task-0-2' : 'task-0-1';
			const good = { taskId: 'task-1-1', status: 'completed' };
			if (isError && onError === 'stopWorkflow') {
				expect(came.output).toEqual([]);
				expect(came.error?.message).toContain(said);
				expect(came.error?.message).toMatch(/ \[item 1 of 2\]$/);
				expect(came.error?.description).toMatch(new RegExp(`Task ID: ${taskId}$`));
				expect(came.error?.description).toContain('task-1-1');
				// No download begins once a task has failed.
				if (what === 'failed') expect(account.files).toEqual([]);
				return;
			}
			expect(came.error).toBeUndefined();
			const message = expect.stringMatching(new RegExp(`Task ID: ${taskId}$`)) as string;
			const error = { error: expect.not.stringContaining('[item') as string, message };
			if (isError) expect([...came.errors, ...came.output][0]?.json.error).toContain(said);
			if (isError && onError === 'continueErrorOutput') {
				const details = expect.objectContaining({ taskId, status: STATUS[what] }) as object;
				expect(came.errors).toEqual([{ json: { ...error, details }, pairedItem: { item: 0 } }]);
				expect(came.output).toMatchObject([{ json: good, pairedItem: { item: 1 } }]);
				return;
			}
			expect(came.errors).toEqual([]);
			const status = STATUS[what];
			expect(came.output).toMatchObject([
				{ json: { taskId, status, ...(isError && error) }, pairedItem: { item: 0 } },
				{ json: good, pairedItem: { item: 1 } },
			]);
			if (!isError) expect(came.output[0]?.json).not.toHaveProperty('error');
			const downloads = caller === 'no tool';
			expect(came.output.map(({ binary }) => binary !== undefined)).toEqual([false, downloads]);
		});

		it('repeats nothing but what n8n repeats', async () => {
			const { came } = await live(row);
			expect(came.calls).toBe(isError && call === 'retryOnFail' ? 2 : 1);
			expect(came.sleeps).toBe(false);
		});
	},
);

const asleep = ON_ERROR.flatMap((onError) =>
	FAILED_TASKS.flatMap((failedTasks) =>
		[0, 2].map((maxTries) => ({ onError, failedTasks, maxTries })),
	),
);

it.each(asleep)(
	'n8n, which may end a sleep by itself, stores then what has not ended: On Error $onError, Failed Tasks $failedTasks, $maxTries tries',
	async ({ onError, failedTasks, maxTries }) => {
		const items: Fate[][] = [['endless'], ['good']];
		const account = new Account(items);
		const settings: Settings = { items, onError, maxTries, failedTasks, sleeps: true };
		const came = await new NodeExecution(account, settings).run();
		expect(account.count()).toEqual([1, 1]);
		expect(came.sleeps).toBe(true);
		// An error at the first item would have n8n run the node again at once.
		expect(came.calls).toBe(1);
		const isError = failedTasks === 'error' && onError !== 'stopWorkflow' && !maxTries;
		const ends = ['task-0-1', 'task-1-1'].map((taskId) => ({ taskId, status: 'timedOut' }));
		const error = isError
			? { error: SAID.endless, message: expect.stringMatching(/ Task ID: task-\d-1$/) as string }
			: {};
		if (isError && onError === 'continueErrorOutput') {
			expect(came.output).toEqual([]);
			expect(came.errors).toMatchObject(ends.map((details) => ({ json: { ...error, details } })));
			return;
		}
		expect(came.errors).toEqual([]);
		expect(came.output).toMatchObject(ends.map((task) => ({ json: { ...task, ...error } })));
		if (!isError) expect(came.output[0]?.json).not.toHaveProperty('error');
	},
);
