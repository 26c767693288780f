import { listTaskIds, type Ledger } from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { readLedger } from '../../../nodes/MediaGeneration/run/ledger/openLedger';
import {
	AWAKE_OR_ASLEEP,
	buildWorld,
	runAndCheck,
	MINUTE,
	SECOND,
	readNodeContext,
	readLast,
	type FateName,
	type ItemFates,
} from '../../world/live.cts';
import type { Execution } from '../../world/n8n.cts';
import type { Fate } from '../../world/service.cts';
import type { World } from '../../world/world.cts';

const COMPLETED = ['completed', 'completed'];

/** The tasks of the first item, as n8n has stored them. */
function listOfFirst(execution: Execution): string[] {
	const { entries } = readLedger(readNodeContext(execution)) as Ledger;
	return listTaskIds(entries.slice(0, 1));
}

/** Counts what an execution has sent. */
const countSent = ({ service }: World, { id }: Execution): number =>
	service.creations.filter(({ sender }) => sender.execution === id).length;

describe.each(AWAKE_OR_ASLEEP)('a try after a failure, where the run waits by %s,', (howToWait) => {
	const FAILS_ONCE: ItemFates[] = [['failed', 'good'], 'good'];

	it.each([
		['Maximum Tasks per Run', { maxTasks: 2 }],
		['the balance', { options: { keepCredits: 1_000 } }],
	])('keeps the failure as the error where %s leaves no room', async (_, options) => {
		const world = buildWorld(FAILS_ONCE, { howToWait, maxTries: 3, ...options });
		world.service.credits = 1_002;
		const { sent, error } = await runAndCheck(world);
		expect(sent).toEqual([1, 1]);
		expect(error?.message).toBe('The task failed: blocked task-0-1z (code 501) [item 1 of 2]');
	});

	it('has the whole wait limit while the service takes no more tasks at once', async () => {
		const fates = [{ end: 'failed', after: 50 * SECOND }, { creation: 'full' }, {}] as const;
		const world = buildWorld([[...fates]], { howToWait, maxTries: 2, limit: MINUTE });
		const { statuses, sent } = await runAndCheck(world);
		expect([statuses, sent]).toEqual([['completed'], [3]]);
	});

	it('waits no longer than the wait limit for the account and the task together', async () => {
		const fates = ['failed', ...Array<Partial<Fate>>(3).fill({ creation: 'full' })] as const;
		const late = { after: 50 * SECOND };
		const world = buildWorld([[...fates, late]], {
			...{ howToWait, maxTries: 2, limit: 80 * SECOND, onError: 'continueRegularOutput' },
		});
		const { items, sent } = await runAndCheck(world);
		expect(sent).toEqual([5]);
		expect(items).toMatchObject([{ json: { status: 'timedOut', taskId: 'task-0-5z' } }]);
	});

	it('sends nothing again once its outcome is unknown; a retry does', async () => {
		const { world, execution, sent, statuses } = await runAndCheck(
			buildWorld([['failed', 'unknown', 'good'], 'good'], {
				howToWait,
				maxTries: 5,
				retries: [{ maxTries: 0 }],
			}),
		);
		const [first] = world.n8n.executions as [Execution];
		expect(countSent(world, first)).toBe(3);
		expect(first.error?.message).toMatch(/may|broke off|reset/i);
		expect(first.error?.description).toContain('task-0-1z');
		expect(statuses).toEqual(COMPLETED);
		expect(sent).toEqual([3, 1]);
		expect(listOfFirst(execution)).toEqual(['task-0-1z', 'task-0-3z']);
	});

	it('sends what was refused once more in the next try, and keeps the ID of the failed one', async () => {
		// What is refused takes no room.
		const { execution, sent, statuses } = await runAndCheck(
			buildWorld([['failed', 'rejected', 'good'], 'good'], { howToWait, maxTries: 4, maxTasks: 3 }),
		);
		expect(statuses).toEqual(COMPLETED);
		expect(sent).toEqual([3, 1]);
		expect(listOfFirst(execution)).toEqual(['task-0-1z', 'task-0-3z']);
	});

	it('outputs why a failed task could not be created again, with its ID', async () => {
		const goesOn = { howToWait, maxTries: 2, onError: 'continueRegularOutput' } as const;
		const { items } = await runAndCheck(buildWorld([['failed', 'rejected']], goesOn));
		const message = expect.stringContaining('task-0-1z') as string;
		expect(items).toMatchObject([{ json: { message } }]);
		expect(items[0]?.json.error).toContain('did not accept what was sent');
	});

	it('in a retry from the list comes only after n8n was given the failure there too', async () => {
		const { world, execution, sent, statuses } = await runAndCheck(
			buildWorld(FAILS_ONCE, { howToWait, retries: [{}, { maxTries: 2 }] }),
		);
		const [, alone] = world.n8n.executions as [Execution, Execution];
		expect(alone.error?.message).toContain('The task failed');
		expect(countSent(world, alone)).toBe(0);
		expect(execution.outputs[0]).toContain('The task failed');
		expect(statuses).toEqual(COMPLETED);
		expect(sent).toEqual([2, 1]);
		expect(listOfFirst(execution)).toEqual(['task-0-1z', 'task-0-2z']);
	});

	// Where its looks fail, each try makes them for 20 seconds.
	it.each<[FateName, minutes: number]>([
		['endless', 1.5],
		['silent', 2.5],
	])(
		'is not for a task that is %s: a retry from the list waits for it again',
		async (fate, minutes) => {
			const world = buildWorld([fate, 'good'], { howToWait, maxTries: 3, retries: [{}] });
			world.clock.after(minutes * MINUTE, () => {
				const task = world.service.find('task-0-1z');
				Object.assign(task?.fate ?? {}, { end: 'completed' });
				Object.assign(task ?? {}, { endsAt: world.clock.now });
			});
			const { execution, sent, statuses } = await runAndCheck(world);
			expect(execution.mode).toBe('retry');
			expect(statuses).toEqual(COMPLETED);
			expect(sent).toEqual([1, 1]);
		},
	);
});

it('a retry of a retry with Execute Once keeps the tasks of all items', async () => {
	const world = buildWorld([['failed', 'good'], 'good'], {
		retries: [{ executeOnce: true }, { onError: 'continueRegularOutput' }],
	});
	// With Execute Once, an error names no task of another item.
	const { sent, statuses } = readLast(await world.run());
	const [, once] = world.n8n.executions as [Execution, Execution];
	expect(once.error?.message).toContain('The task failed');
	expect(statuses).toEqual(['failed', 'completed']);
	expect(sent).toEqual([1, 1]);
});
