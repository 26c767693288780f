import { expect } from '@jest/globals';
import { generate, NODE, numberTexts, prompts, SEEN } from '../../dev/fixtures/workflows.cts';
import { poll } from '../../dev/n8n/wait.cts';
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

/** Starts a workflow that creates a task for each prompt and waits for all, and then shows what each is paired with. */
const start = async (pair: typeof limited, texts: string[], options?: object) =>
	await pair.start(prompts(texts), generate({ options }), SEEN);

const COMPLETED = { status: 'completed' };
const TIMED_OUT = { status: 'timedOut' };
/** The last look at the task failed, and the user is told why. */
const UNREAD = { ...TIMED_OUT, lookError: expect.stringMatching(/./) };

/** The wait limit of the executions that reach it, in seconds. */
const LIMIT = 12;
/**
 * The longest time, in seconds, after the limit until such an execution has ended, also while details are never answered. n8n's
 * own look at limits comes later.
 */
const LIMIT_SLACK = { usual: 12, hanging: 25 };

const HANGING = numberTexts(3, '#detailsHang #noCallback');
const HANGS = 'details are never answered';

/** Executions that reach their limit: their tasks in order, and what each comes out with. */
const LIMITED: Record<string, Record<string, Record<string, unknown>>> = {
	'two called back': {
		'called one': COMPLETED,
		'called two': COMPLETED,
		'called three #neverEnds': TIMED_OUT,
	},
	'two ended, and their callbacks were lost': {
		'lost one #noCallback': COMPLETED,
		'lost two #neverEnds': TIMED_OUT,
		'lost three #noCallback': COMPLETED,
	},
	'two called back, and then the service was down': {
		'down one': COMPLETED,
		'down two #neverEnds': UNREAD,
		'down three': COMPLETED,
	},
	[HANGS]: Object.fromEntries(HANGING.map((text) => [text, TIMED_OUT])),
};

const LOST = numberTexts(6, 'lost');
const EARLY = [...numberTexts(6, 'early #slow=0'), ...numberTexts(6, 'early #slow=0.1')];
/** They end one after the other, so that each callback finds others open. */
const QUIET = numberTexts(20, 'quiet').map((text, index) => `${text} #slow=${2 + index / 2}`);

/** The executions that reach their limit, by name. */
const limitedIds: Record<string, string> = {};
let lostId: string;
const earlyIds: string[] = [];

beforeAll(async () => {
	looked.service.set({
		faultsFor: ({ input }) => ({ noCallback: String(input.prompt).includes('lost') }),
	});
	lostId = await start(looked, LOST);
	for (const text of EARLY) earlyIds.push(await start(looked, [text]));
	for (const [name, tasks] of Object.entries(LIMITED))
		limitedIds[name] = await start(limited, Object.keys(tasks), {
			waitLimit: LIMIT / 60,
			failedTasks: 'output',
		});
	await start(quiet, QUIET);

	// The service goes down.
	const down = ['down one', 'down two #neverEnds', 'down three'];
	await limited.waitForTasks(...down);
	await limited.waitForCallbacks('down one', 'down three');
	for (const text of down) limited.findTask(text).faults.detailsFail = Infinity;
});

it.each(Object.entries(LIMITED))(
	'when the limit passes, each task comes out as it is known: %s',
	async (name, expected) => {
		const texts = Object.keys(expected);
		const execution = await limited.n8n.waitForExecution(String(limitedIds[name]));
		expect(execution.status).toBe('success');
		expect(execution.getItems(NODE)).toMatchObject(
			texts.map((text) => ({ taskId: limited.findId(text), ...expected[text] })),
		);
		expect(execution.getItems('Seen').map(({ prompt }) => prompt)).toEqual(texts);
		const lost = texts.filter((text) => /#noCallback/.test(text) && !HANGING.includes(text));
		limited.expectNoCallbacks(...lost);
		if (name === HANGS)
			for (const text of texts) expect(limited.findTask(text).detailsRequests).toBeGreaterThan(0);
		const times = texts.map((text) => limited.findTask(text).createTime);
		const [shortest, longest] = [Math.max(...times), Math.min(...times)].map(
			(time) => (Number(execution.endedAt) - time) / SECOND,
		);
		expect(shortest).toBeLessThan(LIMIT + LIMIT_SLACK[name === HANGS ? 'hanging' : 'usual']);
		expect(longest).toBeGreaterThan(LIMIT - 5);
	},
);

describe('a look of its own, after about 30 seconds', () => {
	it('brings a batch whose callbacks were all lost, with one request for each task or little more', async () => {
		const execution = await looked.n8n.waitForExecution(lostId);
		expect(execution.getItems(NODE)).toMatchObject(looked.listCompleted(...LOST));
		looked.expectNoCallbacks(...LOST);
		const looks = LOST.map((text) => looked.findTask(text).detailsRequests);
		expect(looks.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(LOST.length + 2);
		for (const count of looks) expect(count).toBeGreaterThan(0);
	});

	it('brings tasks whose callback came before n8n had stored the parked execution, and is not sent again', async () => {
		const output = [];
		for (const id of earlyIds)
			output.push(...(await looked.n8n.waitForExecution(id)).getItems(NODE));
		expect(output).toMatchObject(looked.listCompleted(...EARLY));
		const answers = EARLY.flatMap((text) => looked.findTask(text).callbacks);
		expect(answers.some(({ status }) => Number(status) >= 400)).toBe(true);
	});

	it('is not taken where callbacks come: one request for a single task, and a few for each of a batch, not for all at each callback', async () => {
		const { idle } = quiet.service;
		await idle();
		await start(quiet, ['alone']);
		await quiet.waitForTasks('alone');
		await idle();
		const [first = 0] = quiet.listTasks().map(({ createTime }) => createTime);
		// The first look at the batch would have come by now.
		await poll(() => Date.now() - first > 45 * SECOND, { what: 'a look' });
		expect(quiet.findTask('alone').detailsRequests).toBe(1);
		expect(quiet.countCreations()).toBe(QUIET.length + 1);
		const sum = QUIET.reduce((all, text) => all + quiet.findTask(text).detailsRequests, 0);
		// A busy n8n refuses copies of callbacks, each of which is asked about. All at each callback would be 210.
		expect(sum).toBeLessThanOrEqual(5 * QUIET.length);
		// n8n itself answers 409 once the execution goes on.
		for (const { callbacks } of quiet.listTasks())
			expect([200, 409]).toContain(callbacks.at(-1)?.status);
	});
});
