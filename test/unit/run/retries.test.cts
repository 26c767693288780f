import { listTaskIds, type Ledger } from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { readLedger } from '../../../nodes/MediaGeneration/run/ledger/openLedger';
import {
	buildWorld,
	buildFilm,
	runAndCheck,
	MINUTE,
	readLast,
	readNodeContext,
	SECOND,
} from '../../world/live.cts';

describe('a retry from the list', () => {
	it('creates no task again for the same request, and stays awake, as callbacks go elsewhere', async () => {
		const late = { after: 1.5 * MINUTE };
		const { execution, sent, taskIds } = await runAndCheck(
			buildWorld([late, 'good'], { retries: [{}] }),
		);
		expect(execution.mode).toBe('retry');
		expect(execution.ended).toMatchObject([{ sleptAt: undefined }]);
		expect(taskIds).toEqual(['task-0-1z', 'task-1-1z']);
		expect(sent).toEqual([1, 1]);
		expect(execution.hints).toEqual([
			'2 of 2 tasks come from the earlier run: nothing was paid again for these',
		]);
	});

	it('creates the task of an item that was corrected', async () => {
		const retries = [{ onError: 'continueRegularOutput' as const }];
		const world = buildWorld(['failed', 'good'], { varies: true, retries });
		world.n8n.read = (item, { mode }) => ({ item, prompt: item === 1 ? mode : '' });
		expect((await runAndCheck(world)).taskIds).toEqual(['task-0-1z', 'task-1-2z']);
	});

	it('keeps a task that it adopted, though its expressions return another value in the next try', async () => {
		const retries = [{ maxTries: 3 }];
		const world = buildWorld(['good', ['rejected', 'rejected', 'good']], { retries });
		world.n8n.read = (item, { mode, outputs }) => ({
			item,
			prompt: mode === 'retry' && outputs.length ? 'Other' : '',
		});
		const { sent, taskIds } = await runAndCheck(world);
		expect(taskIds).toEqual(['task-0-1z', 'task-1-3z']);
		expect(sent).toEqual([1, 3]);
	});
});

it('the next run in a loop creates tasks of its own, for the same requests too', async () => {
	const world = buildWorld([], { steps: [buildFilm('good', 'good'), buildFilm('good', 'good')] });
	world.n8n.read = (item) => ({ item, prompt: 'Night' });
	// The world counts the two as tasks of one item.
	const { execution, sent } = readLast(await world.run());
	expect(sent).toEqual([2, 2]);
	const { entries } = readLedger(readNodeContext(execution)) as Ledger;
	expect(listTaskIds(entries)).toEqual(['task-0-2z', 'task-1-2z']);
});

it('an execution that is stopped shows its tasks in what n8n keeps of it, also those of before a wake', async () => {
	const again = { latency: 20 * SECOND };
	const accidents = [{ when: { after: 15 * SECOND }, what: 'stop' as const }];
	const { execution } = await runAndCheck(
		buildWorld([[{ end: 'failed' }, again], 'good'], { maxTries: 2, accidents }),
	);
	expect([...execution.customData]).toEqual([
		['Media_Generation_tasks', 'task-0-1z, task-0-2z, task-1-1z'],
		['Media_Generation_credits', '1'],
	]);
});

it.each([
	['after a sleep', 'trigger', {}],
	['in a retry', 'retry', { after: 65 * SECOND }],
])('what may be a mistake in a request is output with its task, %s', async (_, mode, fate) => {
	const world = buildWorld([fate, 'good'], { retries: [{}] });
	world.n8n.read = (item) => {
		const body = { model: 'a/b', input: { item, prompt: 'Night' } };
		return item ? body : { ...body, callBackUrl: '$execution.resumeUrl' };
	};
	const { execution, items } = await runAndCheck(world);
	expect(execution.mode).toBe(mode);
	expect(items.map(({ json }) => json.warning)).toEqual([
		expect.stringContaining('Delete the Wait node behind it'),
		undefined,
	]);
});
