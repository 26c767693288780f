import type { IExecuteFunctions } from 'n8n-workflow';
import type { Ledger } from '../../../nodes/MediaGeneration/run/ledger';
import {
	Account,
	copy,
	finish,
	NodeExecution,
	readStatuses,
	type Came,
	type Settings,
} from './failingRuns.cts';

const MINUTE = 60_000;

describe('two calls of a run', () => {
	it('the one whose task the other has created waits as long as that one', async () => {
		const settings: Settings = { items: [['failed', 'good'], ['good']], maxTries: 2, sleeps: true };
		const account = new Account(settings.items);
		const first = new NodeExecution(account, settings);
		expect((await first.run()).sleeps).toBe(true);
		const second = first.withData(copy(first.kept));
		let endsAt = Infinity;
		const look = account.look.bind(account);
		const PENDING = '{"code":200,"data":{"taskId":"task-0-2","state":"generating"}}';
		account.look = (taskId) =>
			taskId === 'task-0-2' && Date.now() < endsAt
				? { statusCode: 200, body: PENDING }
				: look(taskId);
		let other: Promise<Came> | undefined;
		account.onCreation = async () => {
			account.onCreation = undefined;
			other = second.wake();
			// The service takes two minutes to answer; the wait limit is one. The task ends 30 seconds later.
			await jest.advanceTimersByTimeAsync(2 * MINUTE);
			endsAt = Date.now() + 30_000;
		};
		const mine = await first.wake();
		const others = await (other as unknown as Promise<Came>);
		const ends = [await finish(first, mine), await finish(second, others)];
		expect(ends.map(({ error }) => error?.message)).toEqual([undefined, undefined]);
		expect(account.count()).toEqual([2, 1]);
	});

	it('one that gives a task up does not give it up for the other, which has begun later', async () => {
		const settings: Settings = { items: [['good']] };
		const account = new Account(settings.items);
		const first = new NodeExecution(account, settings);
		const second = first.withData({});
		const begun = Date.now();
		const look = account.look.bind(account);
		const PENDING = '{"code":200,"data":{"taskId":"task-0-1","state":"generating"}}';
		account.look = (taskId) =>
			Date.now() < begun + 90_000 ? { statusCode: 200, body: PENDING } : look(taskId);
		let other: Promise<Came> | undefined;
		// n8n runs it again when it is 45 seconds old; the wait limit is a minute.
		setTimeout(() => {
			other = second.run();
		}, 45_000);
		const a = await first.run();
		const b = await (other as unknown as Promise<Came>);
		expect(account.count()).toEqual([1]);
		expect(a.error?.message).toContain('had not ended');
		expect([b.error?.message, readStatuses(b)]).toEqual([undefined, ['completed']]);
	});

	it('that is a retry keeps the tasks of before, though it comes by the data of before', async () => {
		// Its expression for the first item fails now and then.
		let fails = false;
		const read = (item: number) => {
			if (item === 0 && fails) throw new Error('an expression fails');
			return { item };
		};
		const settings: Settings = { items: [['good'], ['refused', 'good']], read };
		const account = new Account(settings.items);
		const first = new NodeExecution(account, settings);
		expect((await first.run()).error).toBeDefined();
		expect(account.count()).toEqual([1, 1]);
		const one = first.retry();
		const other = one.withData(copy(one.kept));
		fails = true;
		expect((await one.run()).error?.message).toContain('an expression fails');
		fails = false;
		expect(readStatuses(await other.run())).toEqual(['completed', 'completed']);
		expect(account.count()).toEqual([1, 2]);
	});
});

it('a retry of a retry with Execute Once keeps the tasks of all items', async () => {
	const read = (item: number) => ({ item });
	const settings: Settings = { items: [['failed', 'good'], ['good']], read };
	const account = new Account(settings.items);
	const first = new NodeExecution(account, settings);
	expect((await first.run()).error?.message).toContain('The task failed');
	const once = new NodeExecution(account, settings, copy(first.kept), [{ json: { item: 0 } }]);
	expect((await once.run()).error?.message).toContain('The task failed');
	expect(account.count()).toEqual([1, 1]);
	const again = new NodeExecution(
		account,
		{ ...settings, onError: 'continueRegularOutput' },
		copy(once.kept),
	);
	const came = await again.run();
	expect(readStatuses(came)).toEqual(['failed', 'completed']);
	expect(account.count()).toEqual([1, 1]);
});

it('files are named by the prompt after a try and a sleep', async () => {
	const read = (item: number) => ({ item, prompt: `cats ${item}` });
	const settings: Settings = {
		items: [['failed', 'good'], ['good']],
		maxTries: 2,
		sleeps: true,
		read,
	};
	const account = new Account(settings.items);
	const first = new NodeExecution(account, settings);
	const came = await finish(first, await first.run());
	const names = came.output.map(({ binary }) => Object.values(binary ?? {})[0]?.fileName);
	expect(names).toEqual([expect.stringContaining('cats'), expect.stringContaining('cats')]);
});

it('n8n does not repeat a run that sleeps for a task that has merely not ended', async () => {
	const settings: Settings = { items: [['good'], ['good']], maxTries: 3, sleeps: true };
	const account = new Account(settings.items);
	const first = new NodeExecution(account, settings);
	const came = await first.run();
	expect(came.sleeps).toBe(true);
	expect(came.calls).toBe(1);
});

it('a copy of a woken execution that waited hours for its slot pays for nothing', async () => {
	const settings: Settings = { items: [['failed', 'good'], ['good']], maxTries: 2, sleeps: true };
	const account = new Account(settings.items);
	const first = new NodeExecution(account, settings);
	expect((await first.run()).sleeps).toBe(true);
	const second = first.withData(copy(first.kept));
	expect((await finish(first, await first.wake())).error).toBeUndefined();
	expect(account.count()).toEqual([2, 1]);
	await jest.advanceTimersByTimeAsync(2 * 3_600_000);
	const beside = new NodeExecution(new Account([['good']]), { items: [['good']] });
	await beside.run();
	await finish(second, await second.wake());
	expect(account.count()).toEqual([2, 1]);
});

it('of two calls that fall asleep again, the one whose data n8n stores last is woken', async () => {
	const { findNap } = jest.requireActual<typeof import('../../../nodes/MediaGeneration/run/nap')>(
		'../../../nodes/MediaGeneration/run/nap',
	);
	const settings: Settings = {
		items: [['failed', 'good'], ['good']],
		maxTries: 2,
		sleeps: true,
		options: { waitLimit: 30 },
	};
	const account = new Account(settings.items);
	const first = new NodeExecution(account, settings);
	expect((await first.run()).sleeps).toBe(true);
	const second = first.withData(copy(first.kept));
	let other: Promise<Came> | undefined;
	account.onCreation = async () => {
		account.onCreation = undefined;
		other = second.wake();
		await jest.advanceTimersByTimeAsync(5_000);
	};
	const [mine, others] = [await first.wake(), await other];
	expect([mine.sleeps, others?.sleeps]).toEqual([true, true]);
	const logger = { info() {}, warn() {} };
	const context = {
		getNode: () => ({ name: 'Node' }),
		getExecutionId: () => first.id,
		additionalKeys: { $execution: { resumeUrl: 'https://n8n.example/webhook-waiting/1' } },
		logger,
	} as unknown as IExecuteFunctions;
	const [a, b] = [first, second].map(({ kept }) => copy(kept).run as Ledger) as [Ledger, Ledger];
	// Each falls asleep, in their order.
	const order = [a, b].sort((one, two) => Number(one.sleep?.number) - Number(two.sleep?.number));
	for (const ledger of order) findNap(context, ledger);
	// n8n has stored the first one's data after the second one's.
	expect(findNap(context, order[0] as Ledger)).toBeDefined();
});
