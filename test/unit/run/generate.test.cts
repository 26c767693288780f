import { UserError, type INodeExecutionData } from 'n8n-workflow';
import { readLedger } from '../../../nodes/MediaGeneration/run/ledger/openLedger';
import {
	buildWorld,
	runAndCheck,
	readNodeContext,
	SECOND,
	type ItemFates,
} from '../../world/live.cts';
import type { Execution } from '../../world/n8n.cts';
import type { Plan } from '../../world/world.cts';

const GOES_ON = { onError: 'continueRegularOutput' } as const;
const GOOD: ItemFates[] = ['good', 'good', 'good'];

/** Reads items, of which this one can not be sent. */
const failAt = (wrong: number, error: Error) => (item: number) => {
	if (item === wrong) throw error;
	return { item };
};
const wrong = new UserError('No image', { description: 'Give one.' });

/** How many tasks of an execution count for Maximum Tasks per Run. */
const countTasks = (execution: Execution) =>
	readLedger(readNodeContext(execution))?.shared.taskCount;

/** Lists the error of each item, or the status of its task. */
const listResults = (items: INodeExecutionData[]) =>
	items.map(({ json }) => json.error ?? json.status);

describe('a run that creates tasks', () => {
	it('waits for nothing once an error has ended it, and names the tasks that exist', async () => {
		const world = buildWorld(['endless', 'rejected', 'good']);
		world.clock.after(1.4 * SECOND, () => expect(world.n8n.executions[0]?.status).toBe('error'));
		const { error, sent } = await runAndCheck(world);
		expect(sent).toEqual([1, 1, 0]);
		expect(error?.message).toContain('[item 2 of 3]');
		expect(error?.description).toContain('task-0-1z');
	});

	it('creates nothing where an item behind the others can not be sent', async () => {
		const world = buildWorld(GOOD, { maxTasks: 3 });
		world.n8n.read = failAt(2, wrong);
		const { error, execution, sent } = await runAndCheck(world);
		expect(error?.message).toBe('No image [item 3 of 3]');
		expect(sent).toEqual([0, 0, 0]);
		expect(countTasks(execution)).toBe(0);
	});

	it.each([{}, GOES_ON])('names its tasks where n8n could not let it sleep: %j', async (more) => {
		const { error, items } = await runAndCheck(buildWorld(GOOD, { ...more, sleepFails: true }));
		const output = JSON.stringify([error?.message, error?.description, items]);
		for (const text of ['No active execution', 'task-0-1z', 'task-1-1z', 'task-2-1z'])
			expect(output).toContain(text);
	});
});

it('Maximum Tasks per Run counts what exists or may exist, and nothing that was rejected or not sent', async () => {
	const goesOn = await runAndCheck(
		buildWorld(['good', 'unknown', 'rejected'], { maxTasks: 3, ...GOES_ON }),
	);
	expect(countTasks(goesOn.execution)).toBe(2);
	const stops = await runAndCheck(buildWorld(['rejected', 'good', 'good'], { maxTasks: 3 }));
	expect(countTasks(stops.execution)).toBe(0);
});

describe('a woken run', () => {
	it.each<[string, ItemFates, Error | undefined, string]>([
		['of a field', 'good', wrong, 'No image'],
		['of the service', 'rejected', undefined, 'did not accept'],
		['of unknown outcome', 'unknown', undefined, 'broke off'],
	])(
		'creates nothing, and outputs an error %s as an awake one does',
		async (_, fate, error, message) => {
			const runBy = async (howToWait: Plan['howToWait']) => {
				const world = buildWorld(['good', fate, 'good'], { howToWait, ...GOES_ON });
				world.n8n.credentials.baseUrl = 'https://api.example';
				if (error) world.n8n.read = failAt(1, error);
				return await runAndCheck(world);
			};
			const { execution, items, sent } = await runBy('callback');
			expect(execution.ended[0]?.sleptAt).toBeDefined();
			expect(sent).toEqual([1, error ? 0 : 1, 1]);
			const hasMessage = expect.stringContaining(message) as string;
			expect(listResults(items)).toEqual(['completed', hasMessage, 'completed']);
			expect(items).toEqual((await runBy('polling')).items);
		},
	);

	/** Runs a node that sleeps; returns which items' credentials it has read since. */
	async function wake(fates: ItemFates[], fileHost = 'files.example') {
		const world = buildWorld(fates, { ...GOES_ON, downloads: true });
		world.service.filesUrl = `https://${fileHost}`;
		const read: number[] = [];
		const hasSlept = () => world.clock.now > world.startedAt + SECOND;
		world.n8n.onCredential = (item) => {
			if (hasSlept() && item !== undefined) read.push(item);
		};
		world.n8n.read = (item) => {
			if (hasSlept()) throw new Error('Read again');
			return { item };
		};
		return { ...(await runAndCheck(world)), read };
	}

	it('outputs ended tasks and their files without reading credential or fields', async () => {
		const { items, read } = await wake(GOOD);
		expect(items).toMatchObject(
			Array(3).fill({ json: { status: 'completed' }, binary: { data: { data: 'file' } } }),
		);
		expect(read).toEqual([]);
	});

	it.each([
		['the host of its file rejects the link', 'expired', 'files.example', 'answered 403'],
		['its links lead into this network', 'good', '10.0.0.1', 'inside'],
	] as const)('reads the credential of an item once if %s', async (_, fate, host, reason) => {
		const { items, read } = await wake([fate], host);
		expect(items[0]?.json.downloadError).toContain(reason);
		expect(read).toEqual([0]);
	});
});
