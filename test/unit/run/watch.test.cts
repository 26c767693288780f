import { buildWorld, runAndCheck, MINUTE, SECOND, type ItemFates } from '../../world/live.cts';
import type { Fault } from '../../world/service.cts';
import type { Plan } from '../../world/world.cts';

/** Runs a world in which a run waits awake. Luck spreads no pause. Times are in seconds since the beginning. */
async function poll(items: ItemFates[], more: Partial<Plan> = {}) {
	const plan = { howToWait: 'polling', failedTasks: 'output', ...more } as const;
	const result = await runAndCheck(buildWorld(items, plan));
	const { startedAt, service } = result.world;
	const since = (at: number) => Math.round((at - startedAt) / SECOND);
	const looks = service.looks.map(({ at }) => since(at));
	const [ended] = result.execution.ended;
	return { ...result, looks, took: ended && since(ended.endedAt) };
}

const fault = (how: Fault['how'], item?: number): Fault => ({
	how,
	item,
	from: 0,
	until: Infinity,
});

it('a task that this run created is waited for, however long the service does not know it', async () => {
	const { statuses } = await poll([{ knownAfter: 45 * SECOND }]);
	expect(statuses).toEqual(['completed']);
});

it('asks after 2 seconds first, then ever less often, at most every 30 seconds', async () => {
	const { looks, took, items } = await poll(['endless'], { limit: 3 * MINUTE });
	const pauses = looks.slice(1, -1).map((at, index) => at - (looks[index] ?? 0));
	expect(looks.slice(0, 3)).toEqual([2, 5, 10]);
	expect(pauses).toEqual([...pauses].sort((one, other) => one - other));
	expect(Math.max(...pauses)).toBeLessThanOrEqual(31);
	// The last look comes a little before the limit.
	expect([looks.at(-1), took]).toEqual([175, 175]);
	// What the service said last is output.
	const task = { taskId: 'task-0-1z', model: 'a/b', status: 'timedOut', state: 'generating' };
	expect(items).toMatchObject([{ json: task }]);
});

it('asks rarely while the service rejects requests for their rate', async () => {
	const { looks } = await poll(['endless'], { faults: [fault('429')] });
	expect(looks.filter((at) => at < 55)).toEqual([2, 32]);
});

it('ends at the limit though tasks do not answer, with those that have ended', async () => {
	const { statuses, took } = await poll(['good', 'good'], { faults: [fault('hangs', 0)] });
	expect(statuses).toEqual(['timedOut', 'completed']);
	expect(took).toBe(60);
});

it('asks for nothing once the execution is stopped', async () => {
	const accidents: Plan['accidents'] = [{ when: { after: 6 * SECOND }, what: 'stop' }];
	const { looks } = await poll(['endless'], { accidents });
	expect(looks).toEqual([2, 5]);
});

it("ends before n8n's timeout with a last look, and a hint that it was cut short", async () => {
	const { looks, took, execution, statuses } = await poll(['endless'], { timeout: 40 * SECOND });
	expect([looks.at(-1), took, statuses]).toEqual([30, 30, ['timedOut']]);
	expect(execution.hints.join()).toContain("before 'Limit Wait Time'");
});

it('hints say how tasks ended, what they cost, what is missing, and why the run stayed awake', async () => {
	const { execution } = await poll(['failed', 'silent', 'rejected', 'expired'], {
		howToWait: 'callback',
		responseMode: 'lastNode',
		downloads: true,
		onError: 'continueRegularOutput',
		failedTasks: 'error',
	});
	const silence = 'The service had an internal fault (408: upstream is silent)';
	expect(execution.hints).toEqual([
		'Credits consumed by this run: 3',
		'The run stayed awake because "Hook" waits for its end.',
		'Items whose task failed: 1 (item 1). The first: blocked task-0-1z',
		`Items whose task goes on (use Wait): 1 (item 2). The first: ${silence}`,
		expect.stringMatching(
			/^Items with an error: 1 \(item 3\)\. The first: The service did not accept/,
		),
		expect.stringMatching(/^Items that lack a file: 1 \(item 4\)\. The first: Could not .*…$/),
	]);
});

describe('files', () => {
	it('are not downloaded again in a try', async () => {
		const { world, items, execution } = await poll(['failed', 'good'], {
			failedTasks: 'error',
			maxTries: 2,
			onError: 'continueRegularOutput',
			downloads: true,
		});
		expect(execution.outputs).toHaveLength(2);
		expect(items).toMatchObject([{ json: { taskId: 'task-0-2z' } }, { binary: {} }]);
		expect(world.service.downloads).toHaveLength(1);
	});

	it('that are not complete in time are missing, and their task says how to get them', async () => {
		const world = buildWorld(['good'], {
			howToWait: 'polling',
			downloads: true,
			timeout: 20 * SECOND,
		});
		world.service.download = async () => await new Promise<never>(() => {});
		const { items } = await runAndCheck(world);
		expect(items[0]?.json).toMatchObject({
			taskId: 'task-0-1z',
			status: 'completed',
			downloadError: expect.stringMatching(/ no time was left\. .* Use Get Files/) as string,
		});
		expect(items[0]).not.toHaveProperty('binary');
	});
});
