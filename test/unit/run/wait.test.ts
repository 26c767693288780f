import { readCall } from '../../../nodes/MediaGeneration/host/call';
import type { Task } from '../../../nodes/MediaGeneration/api/task';
import { wait as waitForIds } from '../../../nodes/MediaGeneration/run/wait';
import { fail } from '../fail';
import { buildContext, type RunSetup, buildItem, buildRejection } from '../n8n';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

beforeEach(() => void jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

/** What the service says of a task at a moment, in seconds. */
type Say = (seconds: number) => Partial<Task> | Error | Promise<Partial<Task>>;

const completed: Partial<Task> = { status: 'completed' };
const pending: Partial<Task> = { status: 'pending' };
const endsAt =
	(end: number): Say =>
	(seconds) =>
		seconds < end ? pending : completed;

const UNKNOWN = fail('unknownTask');

/** Waits for the tasks of these IDs, each with its token; a blank one did not pass its check. @returns the outcomes, and which looks came when */
async function wait(
	ids: string[],
	service: Record<string, Say>,
	{ tokens = [], ...run }: RunSetup & { tokens?: string[] } = {},
) {
	const asked: Array<[taskId: string, seconds: number]> = [];
	const getTask = async (token: string, taskId: string) => {
		const seconds = Date.now() / SECOND;
		asked.push([taskId, Math.round(seconds)]);
		const answer =
			(service[taskId] ?? service[`${token} ${taskId}`])?.(seconds) ?? new Promise<never>(() => {});
		if (answer instanceof Error) throw answer;
		return { taskId, ...(await answer) };
	};
	const hints: string[] = [];
	const context = buildContext({ hints, input: ids.map(() => ({})), ...run });
	const tasks = ids.flatMap((taskId, index) => {
		if (!taskId) return [];
		const accessToken = tokens[index] ?? 'token';
		const item = buildItem(context, index, { credentials: { accessToken } });
		Object.assign(item.service, { getTask: getTask.bind(undefined, accessToken) });
		return { item, taskId };
	});
	const settings = { waitLimit: MINUTE, timeoutSeconds: 60, failedTasks: 'output' as const };
	let seconds: number | undefined;
	const waiting = waitForIds(readCall(context), tasks, settings);
	void waiting.then(() => (seconds = Math.round(Date.now() / SECOND)));
	await jest.advanceTimersByTimeAsync(5 * MINUTE);
	return { outcomes: await waiting, seconds, asked, hints };
}

const shown = (json: object) => ({ items: [{ json }] });

it('numbers items as n8n does where one before did not pass its check', async () => {
	const failed: Partial<Task> = { status: 'failed', failMessage: 'blocked' };
	const { outcomes, hints } = await wait(['', 'a'], { a: () => failed });
	expect(outcomes).toMatchObject([{ items: [{ json: { taskId: 'a' } }] }]);
	expect(hints).toEqual([expect.stringContaining('(item 2)')]);
});

it('outputs a task that has ended already at once, with what the service says alone', async () => {
	const { outcomes, seconds } = await wait(['a'], { a: () => completed });
	expect(outcomes).toStrictEqual([shown({ taskId: 'a', status: 'completed' })]);
	expect(seconds).toBe(0);
});

it('waits for several tasks together, and outputs each at its items', async () => {
	const a: Say = () => ({ ...completed, creditsConsumed: 3 });
	const { outcomes, seconds, hints } = await wait(['a', 'b', 'a'], { a, b: endsAt(20) });
	expect(hints).toEqual(['Credits consumed by this run: 3']);
	expect(outcomes).toMatchObject(['a', 'b', 'a'].map((taskId) => shown({ taskId, ...completed })));
	expect(seconds).toBeGreaterThanOrEqual(20);
	expect(seconds).toBeLessThan(40);
});

it('a task of which the service says nothing is timedOut at the limit', async () => {
	const { outcomes, seconds } = await wait(['a'], {});
	expect(outcomes).toMatchObject([shown({ taskId: 'a', status: 'timedOut' })]);
	expect(seconds).toBe(60);
});

it('what the service said, or why it did not, is output though some looks never end', async () => {
	const hangs = (first: ReturnType<Say>): Say => {
		return (at) => (at < 1 ? first : new Promise<never>(() => {}));
	};
	const a = hangs({ ...pending, creditsConsumed: 2 });
	const { outcomes } = await wait(['a', 'b', 'c'], {
		a,
		b: hangs(buildRejection(500)),
		c: endsAt(1),
	});
	expect(outcomes).toMatchObject([
		shown({ status: 'timedOut', creditsConsumed: 2 }),
		shown({ status: 'timedOut', lookError: buildRejection(500).message }),
		shown(completed),
	]);
});

it.each<[string, Say]>([
	['has too many requests', (at) => (at < 10 ? buildRejection(429, 'rate limit') : completed)],
	['has a fault', (at) => (at < 10 ? buildRejection(500) : completed)],
	['does not know the task yet', (at) => (at < 29 ? UNKNOWN : completed)],
])('waits on where the service %s for a while', async (_, say) => {
	const { outcomes } = await wait(['a'], { a: say });
	expect(outcomes).toMatchObject([shown({ taskId: 'a', ...completed })]);
});

it('where the service does not take the token, that is the error of its item at once', async () => {
	const say = { a: () => buildRejection(401), b: endsAt(20) };
	const { outcomes, asked } = await wait(['a', 'b'], say, { goesOn: true });
	expect(outcomes).toMatchObject([
		{ error: { kind: 'token' } },
		shown({ taskId: 'b', ...completed }),
	]);
	expect(asked.filter(([taskId]) => taskId === 'a')).toEqual([['a', 0]]);
});

it('where the service does not know a task for 30 s, that is the error of its item', async () => {
	const say = { a: () => UNKNOWN, b: endsAt(50) };
	const { outcomes, asked } = await wait(['a', 'b'], say, { goesOn: true });
	expect(outcomes).toMatchObject([{ error: UNKNOWN }, shown({ taskId: 'b', ...completed })]);
	const times = asked.flatMap(([taskId, at]) => (taskId === 'a' ? at : []));
	expect(times[0]).toBe(0);
	expect(times.at(-1)).toBe(30);
	// In the pauses of every wait.
	expect(times.length).toBeGreaterThan(4);
	expect(times.length).toBeLessThan(9);
});

it('with On Error "stop", a task that the service does not know ends the run after 30 s', async () => {
	const say = { a: () => UNKNOWN, b: () => pending };
	const { outcomes, seconds } = await wait(['b', 'a'], say);
	expect(outcomes).toMatchObject([{}, { error: UNKNOWN }]);
	expect(seconds).toBe(30);
});

it('no account gets what the service says to another account of a task with the same ID', async () => {
	const say = { 'mine a': () => completed, 'yours a': () => buildRejection(401, 'Words to you') };
	const options = { tokens: ['mine', 'yours', 'mine'], goesOn: true };
	const { outcomes, asked } = await wait(['a', 'a', 'a'], say, options);
	expect(outcomes).toMatchObject([
		shown(completed),
		{ error: { kind: 'token' } },
		shown(completed),
	]);
	expect(asked).toHaveLength(2);
});
