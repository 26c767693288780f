import { sleep } from 'n8n-workflow';
import { listTaskIds } from '../../../nodes/MediaGeneration/run/ledger';
import {
	Account,
	copy,
	finish,
	NodeExecution,
	readStatuses,
	type Came,
	type Fate,
	type Settings,
} from './failingRuns.cts';

const MINUTE = 60_000;

/** Runs the node to its end, by all sleeps that come. */
async function live(
	settings: Settings,
	prepare?: (account: Account, execution: NodeExecution) => void,
) {
	const account = new Account(settings.items);
	const execution = new NodeExecution(account, settings);
	prepare?.(account, execution);
	return { account, execution, came: await finish(execution, await execution.run()) };
}

describe.each([false, true])('a try after a failure, in a run that sleeps: %s,', (sleeps) => {
	const FAILS_ONCE: Settings = { items: [['failed', 'good'], ['good']], maxTries: 3, sleeps };

	it('creates the failed task again, and no other', async () => {
		const { account, came } = await live(FAILS_ONCE);
		expect(readStatuses(came)).toEqual(['completed', 'completed']);
		expect(account.count()).toEqual([2, 1]);
	});

	it.each<[string, object, string]>([
		['Maximum Tasks per Run', { maxTasksPerRun: 2 }, "'Maximum Tasks per Run' in Options is 2"],
		['the balance', { keepCredits: 1_000 }, 'The account has 1000 credits'],
	])('keeps the failure as the error where %s leaves no room', async (_, options, why) => {
		const settings = { ...FAILS_ONCE, options };
		const { account, came } = await live(settings, (own) => {
			own.credits = 1_001;
			own.onCreation = () => void (own.credits = 1_000);
		});
		expect(account.count()).toEqual([1, 1]);
		expect(came.error?.message).toBe('The task failed: blocked task-0-1 (code 501) [item 1 of 2]');
		expect(came.error?.description).toContain(`Retry On Fail did not create it again: ${why}`);
		const goesOn: Settings = { ...settings, onError: 'continueRegularOutput' };
		const other = await live(goesOn, (own) => {
			own.credits = 1_001;
			own.onCreation = () => void (own.credits = 1_000);
		});
		expect(other.account.count()).toEqual([1, 1]);
		expect(readStatuses(other.came)).toEqual(['failed', 'completed']);
		expect(other.came.output[0]?.json.message).toContain(why);
		expect(other.came.output[1]?.json).not.toHaveProperty('error');
	});

	it('sends nothing again once its outcome is unknown; a retry does', async () => {
		const items: Fate[][] = [['failed', 'unknown', 'good'], ['good']];
		const { account, execution, came } = await live({ items, maxTries: 5, sleeps });
		expect(account.count()).toEqual([2, 1]);
		expect(came.error?.message).toMatch(/may|broke off|reset/i);
		expect(came.error?.description).toContain('task-0-1');
		const retried = execution.retry({ maxTries: 0 });
		const again = await finish(retried, await retried.run());
		expect(readStatuses(again)).toEqual(['completed', 'completed']);
		expect(account.count()).toEqual([3, 1]);
		expect(listTaskIds(retried.ledger.entries.slice(0, 1))).toEqual(['task-0-1', 'task-0-3']);
	});

	it('sends what was refused once more in the next try, and keeps the ID of the failed one', async () => {
		const items: Fate[][] = [['failed', 'refused', 'good'], ['good']];
		// What is refused takes no room.
		const options = { maxTasksPerRun: 3 };
		const { account, execution, came } = await live({ items, maxTries: 4, sleeps, options });
		expect(readStatuses(came)).toEqual(['completed', 'completed']);
		expect(account.count()).toEqual([3, 1]);
		expect(listTaskIds(execution.ledger.entries.slice(0, 1))).toEqual(['task-0-1', 'task-0-3']);
		const refused: Fate[][] = [['failed', 'refused'], ['good']];
		const stopped = await live({ items: refused, maxTries: 2, sleeps });
		expect(stopped.came.error?.message).toContain('did not accept a field');
		for (const taskId of ['task-0-1', 'task-1-1'])
			expect(stopped.came.error?.description).toContain(taskId);
	});

	it('outputs why a failed task could not be created again, beside one that was', async () => {
		const items: Fate[][] = [
			['failed', 'refused'],
			['failed', 'good'],
		];
		const goesOn: Settings = { items, maxTries: 2, sleeps, onError: 'continueRegularOutput' };
		const { account, came } = await live(goesOn);
		// n8n tries a run again that it has woken. What is refused costs nothing.
		expect(account.count()).toEqual([sleeps ? 3 : 2, 2]);
		expect(came.output[0]?.json.error).toContain('did not accept a field');
		expect(came.output[0]?.json.message).toContain('task-0-1');
		expect(came.output[1]?.json).toMatchObject({ taskId: 'task-1-2', status: 'completed' });
	});

	it('leaves one that timed out as it is, and waits as long as a first try for the new one', async () => {
		const items: Fate[][] = [['failed', 'good'], ['endless'], ['good']];
		const settings: Settings = { items, maxTries: 2, sleeps, onError: 'continueRegularOutput' };
		const { account, came } = await live(settings, (own, execution) => {
			// It ends after its run has given it up. n8n also tries a run again that sleeps.
			execution.betweenTries = () => {
				if (!execution.ledger.sleep) own.fates.set('task-1-1', 'good');
			};
		});
		expect(account.count()).toEqual([2, 1, 1]);
		expect(readStatuses(came)).toEqual(['completed', 'timedOut', 'completed']);
		expect(came.output[1]?.json.error).toContain('had not ended');
		const begun = Date.now();
		const alone: Settings = { items: [['failed', 'endless']], maxTries: 2, sleeps };
		const late = await live(alone, (_, execution) => {
			execution.betweenTries = async () => await jest.advanceTimersByTimeAsync(45_000);
		});
		expect(late.came.error?.message).toContain('had not ended');
		expect(late.account.count()).toEqual([2]);
		// The limit is a minute.
		expect(Date.now() - begun).toBeGreaterThan(100_000);
	});

	it('in a retry from the list comes only after n8n was given the failure there too', async () => {
		const { account, execution } = await live({ items: [['failed', 'good'], ['good']], sleeps });
		const alone = execution.retry();
		expect((await finish(alone, await alone.run())).error?.message).toContain('The task failed');
		expect(account.count()).toEqual([1, 1]);
		const tried = execution.retry({ maxTries: 2 });
		const came = await finish(tried, await tried.run());
		expect(readStatuses(came)).toEqual(['completed', 'completed']);
		expect(account.count()).toEqual([2, 1]);
		expect(listTaskIds(tried.ledger.entries.slice(0, 1))).toEqual(['task-0-1', 'task-0-2']);
	});

	it('in a retry from the list is none after a try that came to no end of the tasks', async () => {
		const items: Fate[][] = [
			['failed', 'good'],
			['refused', 'refused', 'good'],
		];
		const goesOn: Settings = { items, sleeps, onError: 'continueRegularOutput' };
		const { account, execution } = await live(goesOn);
		const stopping = { onError: 'stopWorkflow' as const, maxTries: 2 };
		const retried = execution.retry(stopping);
		const came = await finish(retried, await retried.run());
		expect(came.error?.message).toContain('blocked task-0-1');
		expect(account.count()).toEqual([1, 3]);
	});

	it.each<Fate>(['endless', 'silent'])(
		'is not for a task that is %s: a retry from the list waits for it again',
		async (fate) => {
			const { account, execution } = await live({ items: [[fate], ['good']], maxTries: 3, sleeps });
			expect(account.count()).toEqual([1, 1]);
			account.fates.set('task-0-1', 'good');
			const retried = execution.retry();
			expect(readStatuses(await finish(retried, await retried.run()))).toEqual([
				'completed',
				'completed',
			]);
			expect(account.count()).toEqual([1, 1]);
		},
	);

	it('is nothing for a batch that an unknown outcome has ended before', async () => {
		const { account, came } = await live({ items: [['failed'], ['unknown']], maxTries: 3, sleeps });
		expect(account.count()).toEqual([1, 1]);
		expect(came.error?.description).toContain('task-0-1');
	});
});

describe('an n8n that runs a woken execution twice, with the data of before', () => {
	const settings: Settings = { items: [['failed'], ['good']], maxTries: 2, sleeps: true };

	/** Runs the node until it sleeps; n8n has two webhooks that wake it. */
	async function sleepOnce(own = settings) {
		const account = new Account(own.items);
		const first = new NodeExecution(account, own);
		expect((await first.run()).sleeps).toBe(true);
		const second = first.withData(copy(first.kept));
		return { account, first, second };
	}

	/** Wakes the first one, and the second one while the first creates a task. */
	async function wakeBoth(account: Account, first: NodeExecution, second: NodeExecution) {
		let other: Promise<Came> | undefined;
		account.onCreation = async () => {
			account.onCreation = undefined;
			other = second.wake();
			await jest.advanceTimersByTimeAsync(5_000);
		};
		const mine = await finish(first, await first.wake());
		return { mine, others: await finish(second, await (other as Promise<Came>)) };
	}

	it('pays for one more task, though the second one knows of no try', async () => {
		const { account, first, second } = await sleepOnce();
		const slept = await first.wake();
		expect([slept.sleeps, account.count()]).toEqual([true, [2, 1]]);
		const came = await second.wake();
		expect(account.count()).toEqual([2, 1]);
		expect(came.error?.message).toContain('blocked task-0-2');
		expect(listTaskIds(second.ledger.entries.slice(0, 1))).toEqual(['task-0-1', 'task-0-2']);
		await finish(first, slept);
		expect(account.count()).toEqual([2, 1]);
	});

	it('sends once more what was refused at first, though both tries come to it', async () => {
		const items: Fate[][] = [['refused', 'good'], ['good']];
		const goesOn = { ...settings, items, onError: 'continueRegularOutput' as const };
		const { account, first, second } = await sleepOnce(goesOn);
		const { mine, others } = await wakeBoth(account, first, second);
		expect(account.count()).toEqual([2, 1]);
		expect([readStatuses(mine), readStatuses(others)]).toEqual([
			['completed', 'completed'],
			['completed', 'completed'],
		]);
	});

	it('pays for one more task, though a run that took it before has gone on to sleep', async () => {
		const items: Fate[][] = [
			['failed', 'failed', 'good'],
			['failed', 'good'],
		];
		const { account, first, second } = await sleepOnce({ ...settings, items, maxTries: 5 });
		let other: Promise<Came> | undefined;
		account.onCreation = async () => {
			if (account.count().join() === '2,2') {
				// The first one creates the task of its last item.
				other = second.wake();
				await jest.advanceTimersByTimeAsync(MINUTE);
			} else if (account.count()[0] === 3) await sleep(5 * MINUTE);
		};
		const mine = await finish(first, await first.wake());
		const others = await finish(second, await (other as Promise<Came>));
		expect(account.count()).toEqual([3, 2]);
		expect([readStatuses(mine), readStatuses(others)]).toEqual([
			['completed', 'completed'],
			['completed', 'completed'],
		]);
	});

	it('pays for one more task, also while the first one is creating it', async () => {
		const { account, first, second } = await sleepOnce();
		const { mine, others } = await wakeBoth(account, first, second);
		expect(account.count()).toEqual([2, 1]);
		expect(mine.error?.message).toContain('The task failed');
		expect(others.error?.message).toContain('The task failed');
	});
});

it('a retry behind an unknown outcome counts the failed tasks before it', async () => {
	const settings: Settings = { items: [['failed', 'unknown', 'failed', 'good']], maxTries: 2 };
	const account = new Account(settings.items);
	const first = new NodeExecution(account, settings);
	await first.run();
	expect(account.count()).toEqual([2]);
	const came = await first.retry().run();
	expect(account.count()).toEqual([3]);
	expect(came.error?.description).toContain('task-0-1');
});
