import { UserError } from 'n8n-workflow';
import { listTaskIds } from '../../../nodes/MediaGeneration/run/ledger';
import { Account, NodeExecution, type Settings } from './failingRuns.cts';

/** Runs the node, by default with two good items. */
async function run(settings: Partial<Settings> = {}) {
	const all: Settings = { items: [['good'], ['good']], ...settings };
	const account = new Account(all.items);
	const execution = new NodeExecution(account, all);
	return { account, execution, came: await execution.run() };
}

/** From now on, each task says that it cost 3 credits. */
function charge(account: Account): void {
	const look = account.look.bind(account);
	account.look = (taskId) => {
		const { statusCode, body } = look(taskId);
		const answer = JSON.parse(body) as { data: object };
		Object.assign(answer.data, { creditsConsumed: 3 });
		return { statusCode, body: JSON.stringify(answer) };
	};
}

const listIds = ({ ledger }: NodeExecution) => listTaskIds(ledger.entries);

describe('a retry from the list', () => {
	it('creates no task again for the same request, and stays awake, as callbacks go elsewhere', async () => {
		const { account, execution } = await run();
		charge(account);
		const retried = execution.retry({ sleeps: true });
		const came = await retried.run();
		expect(came.sleeps).toBe(false);
		expect(came.output.map(({ json }) => json.taskId)).toEqual(['task-0-1', 'task-1-1']);
		expect(account.count()).toEqual([1, 1]);
		expect(retried.hints).toEqual(['Nothing was created: these tasks are of the earlier run.']);
	});

	it('says what it has paid, where it created a task beside those of before', async () => {
		const { account, execution } = await run({ items: [['good'], ['refused', 'good']] });
		charge(account);
		const retried = execution.retry();
		await retried.run();
		expect(retried.hints).toEqual([
			'The task consumed 3 credits.',
			'1 of 2 tasks was created by the earlier run, and not paid for again.',
		]);
	});

	it('does not say that nothing was created where that is unknown', async () => {
		const { execution } = await run({ items: [['good'], ['refused', 'unknown']] });
		const retried = execution.retry({ onError: 'continueRegularOutput' });
		await retried.run();
		expect(retried.hints).toEqual([
			'1 of 1 tasks was created by the earlier run, and not paid for again.',
		]);
	});

	it('creates the task of an item that was corrected', async () => {
		const { account, execution } = await run();
		const read = (item: number) =>
			item ? { item, prompt: 'Corrected' } : (account.sent[0]?.input ?? {});
		const retried = execution.retry({ read });
		const { output } = await retried.run();
		expect(output.map(({ json }) => json.taskId)).toEqual(['task-0-1', 'task-1-2']);
	});

	it('keeps a task that it took over, though its expressions return another value in the next try', async () => {
		const { account, execution } = await run({ items: [['good'], ['refused', 'refused', 'good']] });
		expect(account.count()).toEqual([1, 1]);
		let reads = 0;
		const read = (item: number) => {
			const prompt = item ? 'Other' : `${reads++}`;
			return reads === 1 && !item ? (account.sent[0]?.input ?? {}) : { item, prompt };
		};
		const retried = execution.retry({ maxTries: 3, read });
		const { output } = await retried.run();
		expect(output.map(({ json }) => json.taskId)).toEqual(['task-0-1', 'task-1-3']);
		expect(account.count()).toEqual([1, 3]);
	});

	it('finds the tasks also behind a retry that ended before it came to them', async () => {
		const { account, execution } = await run();
		const read = () => {
			throw new UserError('Wrong');
		};
		const broken = execution.retry({ read });
		expect((await broken.run()).error?.message).toContain('Wrong');
		const retried = broken.retry({ read: undefined });
		await retried.run();
		expect(listIds(retried)).toEqual(['task-0-1', 'task-1-1']);
		expect(account.count()).toEqual([1, 1]);
	});
});

it('the next run in a loop creates tasks of its own, for the same requests too', async () => {
	const { account, execution } = await run({ read: (item) => ({ item, prompt: 'Night' }) });
	const loop = execution.loop();
	await loop.run();
	expect(account.count()).toEqual([2, 2]);
	expect(listIds(loop)).toEqual(['task-0-2', 'task-1-2']);
});

describe('an execution that is stopped shows its tasks, in what n8n keeps of it:', () => {
	const readShown = ({ customData }: NodeExecution) => [...customData];

	it('those that it created, as far as n8n has room', async () => {
		const stop = new AbortController();
		const items: Settings['items'] = Array.from({ length: 60 }, () => ['endless']);
		const options = { maxTasksPerRun: 100 };
		const account = new Account(items);
		const execution = new NodeExecution(account, {
			items,
			options,
			agent: { signal: stop.signal },
		});
		account.onCreation = (item) => {
			expect(readShown(execution)).toEqual([]);
			if (item === 59) setTimeout(() => stop.abort(), 5_000);
		};
		await execution.run();
		const [[name, ids = ''] = [], ...others] = readShown(execution);
		expect([name, others]).toEqual(['Media_Generation_tasks', []]);
		expect(ids).toMatch(/^task-0-1, task-1-1, task-2-1, .*…$/);
		expect(ids.length).toBeGreaterThan(250);
		expect(ids.length).toBeLessThanOrEqual(255);
	});

	it.each(['wake', 'retry'] as const)('those of before, after a %s', async (again) => {
		const { account, execution, came } = await run({
			items: [['endless']],
			sleeps: again === 'wake',
		});
		expect(came.sleeps).toBe(again === 'wake');
		const stop = new AbortController();
		const agent = { signal: stop.signal };
		const next =
			again === 'retry'
				? execution.retry({ agent })
				: Object.assign(
						new NodeExecution(account, { ...execution.settings, agent }, execution.kept),
						{
							id: execution.id,
						},
					);
		setTimeout(() => stop.abort(), 5_000);
		await (again === 'retry' ? next.run() : next.wake());
		await jest.advanceTimersByTimeAsync(5_000);
		expect(readShown(next)).toEqual([['Media_Generation_tasks', 'task-0-1']]);
		expect(account.count()).toEqual([1]);
	});
});

it('what may be a mistake in a request is output with its task, after a sleep and in a retry', async () => {
	const read = (item: number) => {
		const body = { model: 'a/b', input: { item, prompt: 'Night' } };
		return item ? body : { ...body, callBackUrl: '$execution.resumeUrl' };
	};
	const { execution, came } = await run({ sleeps: true, read });
	expect(came.sleeps).toBe(true);
	const woken = await execution.wake();
	const retried = await execution.retry().run();
	for (const { output } of [woken, retried])
		expect(output.map(({ json }) => json.warning)).toEqual([
			expect.stringContaining('Delete the Wait node behind it'),
			undefined,
		]);
});
