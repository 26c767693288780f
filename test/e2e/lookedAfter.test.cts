import { expect } from '@jest/globals';
import { chain, createAndWait, NODE, prompts, SEEN } from '../../dev/fixtures/workflows.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { usePair } from './support.cts';

const SECOND = 1_000;
const SERVICE = { taskSeconds: 1.5, credits: 1e6, callbackRetrySeconds: [0.5, 1, 1, 2, 4] };

/** Has the executions that wait until their limit. They do while the other tests run. */
const limited = usePair({ service: SERVICE, keeps: true });
/** Sends each callback once. Has the executions that go on by a look of the node's own, after about 30 seconds. */
const looked = usePair({
	service: { taskSeconds: 0.5, credits: 1e6, callbackRetrySeconds: [] },
	keeps: true,
});
/** Its tasks end soon and their callbacks come, so no look is needed. */
const quiet = usePair({ service: { ...SERVICE, taskSeconds: 2 }, keeps: true });

/** Builds a workflow that creates a task for each prompt and waits for all, and then shows what each is paired with. */
const build = (texts: string[], parameters: Record<string, unknown> = {}, node: object = {}) =>
	chain('Looked after', [prompts(texts), { ...createAndWait(parameters), ...node }, SEEN]);

const nameTexts = (count: number, faults = '') =>
	Array.from({ length: count }, (_, index) => `task ${index} ${faults}`.trim());

const COMPLETED = { status: 'completed' };
const TIMED_OUT = { status: 'timedOut' };
/** The last look at the task failed, and the user is told why. */
const UNREAD = { ...TIMED_OUT, lookError: expect.stringMatching(/./) };

/** The wait limit of the executions that reach it, in seconds. */
const LIMIT = 12;
const IN_MINUTES = { waitLimit: LIMIT / 60 };
/**
 * The longest time, in seconds, after the limit until such an execution has ended, also while details are never answered. n8n's
 * own look at limits comes later.
 */
const LIMIT_SLACK = { usual: 12, hanging: 25 };

/** Executions that reach their limit: the node, its tasks in order, and what each comes out with. */
const LIMITED = {
	'two called back': {
		node: createAndWait(IN_MINUTES),
		tasks: [
			['called one', COMPLETED],
			['called two', COMPLETED],
			['called three #neverEnds', TIMED_OUT],
		],
	},
	'two ended, and their callbacks were lost': {
		node: createAndWait(IN_MINUTES),
		tasks: [
			['lost one #noCallback', COMPLETED],
			['lost two #neverEnds', TIMED_OUT],
			['lost three #noCallback', COMPLETED],
		],
	},
	'two called back, and then the service was down': {
		node: createAndWait(IN_MINUTES),
		tasks: [
			['down one', COMPLETED],
			['down two #neverEnds', UNREAD],
			['down three', COMPLETED],
		],
	},
	'details are never answered': {
		node: createAndWait(IN_MINUTES),
		tasks: nameTexts(3, '#detailsHang #noCallback').map((text) => [text, TIMED_OUT]),
	},
} satisfies Record<string, { node: object; tasks: Array<[prompt: string, output: object]> }>;

type Limited = keyof typeof LIMITED;

const listTexts = (name: Limited) => LIMITED[name].tasks.map(([text]) => String(text));

const LOST = nameTexts(6, 'lost');
const EARLY = [...nameTexts(6, 'early #slow=0'), ...nameTexts(6, 'early #slow=0.1')];
const QUIET = nameTexts(20, 'quiet');

const ids = {} as Record<Limited | 'lost', string>;
let earlyIds: string[];

beforeAll(async () => {
	looked.service.set({
		faultsFor: ({ input }) => ({ noCallback: String(input.prompt).includes('lost') }),
	});
	ids.lost = await looked.start(build(LOST));
	earlyIds = [];
	for (const text of EARLY) earlyIds.push(await looked.start(build([text])));
	for (const [name, { node }] of Object.entries(LIMITED) as Array<[Limited, { node: object }]>)
		ids[name] = await limited.start(build(listTexts(name), {}, node));
	await quiet.start(build(QUIET));
	await letServiceGoDown();
});

/** Lets no details be read any more once the callbacks of two tasks are answered. */
async function letServiceGoDown() {
	const [first = '', second = '', third = ''] = listTexts(
		'two called back, and then the service was down',
	);
	await poll(() => limited.listPrompts().includes(third), { what: 'tasks' });
	const isAnswered = (text: string) => limited.findTask(text).callbacks.at(-1)?.status === 200;
	await poll(() => [first, third].every(isAnswered), { what: 'callbacks that are answered' });
	for (const text of [first, second, third]) limited.findTask(text).faults.detailsFail = Infinity;
}

describe('when the limit passes', () => {
	const expectLimit = (endedAt: number | undefined, texts: string[]) => {
		const times = texts.map((text) => limited.findTask(text).createTime);
		const seconds = (Number(endedAt) - Math.max(...times)) / SECOND;
		expect(seconds).toBeLessThan(
			LIMIT + LIMIT_SLACK[texts.join().includes('#detailsHang') ? 'hanging' : 'usual'],
		);
		expect((Number(endedAt) - Math.min(...times)) / SECOND).toBeGreaterThan(LIMIT - 5);
	};

	it.each(Object.keys(LIMITED) as Limited[])(
		'%s: each task comes out as it is known',
		async (name) => {
			const texts = listTexts(name);
			const execution = await limited.n8n.waitForExecution(ids[name]);
			expect(execution.status).toBe('success');
			const tasks = execution.getItems<Task>(NODE);
			expect(limited.readPrompts(tasks)).toEqual(texts);
			expect(tasks).toMatchObject(LIMITED[name].tasks.map(([, output]) => output));
			expect(execution.getItems('Seen').map(({ prompt }) => prompt)).toEqual(texts);
			expectLimit(execution.endedAt, texts);
		},
	);
});

describe('a look of its own, after about 30 seconds', () => {
	it('brings a batch whose callbacks were all lost, with one request for each task or little more', async () => {
		const execution = await looked.n8n.waitForExecution(ids.lost);
		const tasks = execution.getItems<Task>(NODE);
		expect(looked.readPrompts(tasks)).toEqual(LOST);
		expect(tasks).toMatchObject(LOST.map(() => COMPLETED));
		const looks = LOST.map((text) => looked.findTask(text).detailsRequests);
		expect(looks.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(LOST.length + 2);
		for (const count of looks) expect(count).toBeGreaterThan(0);
	});

	it('brings tasks whose callback came before n8n had stored the parked execution, and is not sent again', async () => {
		const executions = await Promise.all(
			earlyIds.map(async (id) => await looked.n8n.waitForExecution(id)),
		);
		const answers = EARLY.flatMap((text) => looked.findTask(text).callbacks);
		expect(answers.some(({ status }) => Number(status) >= 400)).toBe(true);
		const tasks = executions.flatMap((execution) => execution.getItems<Task>(NODE));
		expect(tasks).toMatchObject(EARLY.map(() => COMPLETED));
		expect(looked.readPrompts(tasks)).toEqual(EARLY);
	});

	it('is not taken where callbacks come: 2 requests for a single task, at most 3 for each of a batch', async () => {
		const { idle } = quiet.service;
		await idle();
		await quiet.start(build(['alone']));
		await poll(() => quiet.listPrompts().includes('alone'), { what: 'a task' });
		await idle();
		const [first = 0] = quiet.listTasks().map(({ createTime }) => createTime);
		// The first look at the batch would have come by now.
		await poll(() => Date.now() - first > 45 * SECOND, { what: 'a look' });
		expect(quiet.findTask('alone').detailsRequests).toBe(1);
		expect(quiet.countCreations()).toBe(QUIET.length + 1);
		const sum = QUIET.reduce((all, text) => all + quiet.findTask(text).detailsRequests, 0);
		expect(sum).toBeLessThanOrEqual(2 * QUIET.length);
		// n8n itself answers 409 once the execution goes on.
		for (const { callbacks } of quiet.listTasks())
			expect([200, 409]).toContain(callbacks.at(-1)?.status);
	});
});
