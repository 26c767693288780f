import { UserError, type INodeExecutionData } from 'n8n-workflow';
import { RefusedRunError } from '../../../nodes/MediaGeneration/run/errors';
import { openRecord } from '../../../nodes/MediaGeneration/run/open';
import type { Sleep } from '../../../nodes/MediaGeneration/operations/record/wait';
import { decideWait } from '../../../nodes/MediaGeneration/run/decide';
import { waitForTasks } from '../../../nodes/MediaGeneration/operations/wait/waitForTasks';
import { buildContext, refuse, WAIT } from '../n8n';
import { create, type CreatingOptions } from './creatingRun';

jest.mock('../../../nodes/MediaGeneration/run/decide');
jest.mock('../../../nodes/MediaGeneration/operations/wait/waitForTasks');

const RESUME_URL = 'https://n8n.example/webhook-waiting/1';
const readWait = () => WAIT;

beforeEach(() => {
	jest.mocked(decideWait).mockReset().mockResolvedValue({ resumeUrl: RESUME_URL });
	jest
		.mocked(waitForTasks)
		.mockReset()
		.mockImplementation(async (_, works) => ({
			outcomes: works.map(({ task }) => ({ items: [{ json: { ...task, status: 'completed' } }] })),
		}));
});

const shown = (item: number, status: string, prompt = String(item)) => ({
	json: { taskId: `task of ${prompt}`, model: 'model', status, resultUrls: [] },
	pairedItem: { item },
});
const started = (item: number, prompt?: string) => shown(item, 'pending', prompt);
const ended = (item: number, prompt?: string) => shown(item, 'completed', prompt);
const failed = (item: number, error: string, message?: string) => ({
	json: { error: expect.stringContaining(error) as string, ...(message && { message }) },
	pairedItem: { item },
});
const refuseOne: CreatingOptions['answer'] = (prompt) =>
	prompt === '1' ? 'refused' : { taskId: `task of ${prompt}` };
const lastWait = () => jest.mocked(waitForTasks).mock.lastCall;

describe('a run that creates tasks', () => {
	it('and does not wait outputs them as they were created', async () => {
		const { output } = await create();
		expect(output).toEqual([0, 1, 2].map((item) => started(item)));
		expect([decideWait, waitForTasks].map((one) => jest.mocked(one).mock.calls)).toEqual([[], []]);
	});

	it('and waits has them call the URL that was decided, and outputs what the wait returns', async () => {
		const urls: unknown[] = [];
		const answer = (prompt: string, url?: string) => {
			urls.push(url);
			return { taskId: `task of ${prompt}` };
		};
		const { output } = await create({ readWait, answer });
		expect(output).toEqual([0, 1, 2].map((item) => ended(item)));
		expect(urls).toEqual([RESUME_URL, RESUME_URL, RESUME_URL]);
		expect(lastWait()?.[2]).toMatchObject({ decision: { resumeUrl: RESUME_URL } });
	});

	it('puts an error of an item between the tasks of the others', async () => {
		const { output } = await create({ readWait, answer: refuseOne, goesOn: true });
		expect(output).toMatchObject([ended(0), failed(1, 'did not accept'), ended(2)]);
		expect(lastWait()?.[1].map(({ index }) => index)).toEqual([0, 2]);
	});

	it('waits for nothing once an error has ended it, and names the tasks that exist', async () => {
		const { error, sent } = await create({ readWait, answer: refuseOne });
		expect(sent).toEqual(['0', '1']);
		expect(waitForTasks).not.toHaveBeenCalled();
		expect(error).toMatchObject({
			message: expect.stringContaining('[item 1]') as string,
			description: expect.stringContaining('task of 0') as string,
		});
	});

	it('waits for nothing once it was stopped', async () => {
		const stop = new AbortController();
		const answer = () => {
			stop.abort();
			return { taskId: 'task of 0' };
		};
		const { output, sent } = await create({ readWait, answer, signal: stop.signal });
		expect([output, sent]).toEqual([[started(0)], ['0']]);
		expect(waitForTasks).not.toHaveBeenCalled();
	});

	it('creates nothing where an item behind the others can not be sent', async () => {
		const prompt: CreatingOptions['prompt'] = ({ index }) => {
			if (index === 2) throw new UserError('No image');
			return String(index);
		};
		const { error, sent } = await create({ readWait, prompt });
		expect([error?.message, sent]).toEqual(['No image [item 2]', []]);
	});

	it('creates nothing where its wait is refused', async () => {
		jest.mocked(decideWait).mockRejectedValue(new Error('Unreachable'));
		const { error, sent } = await create({ readWait });
		expect([error?.message, sent]).toEqual(['Unreachable', []]);
		const { output } = await create({ readWait, goesOn: true });
		expect(output).toEqual([0, 1, 2].map((item) => failed(item, 'Unreachable')));
	});

	it('stores its output when it falls asleep, and names its tasks where n8n could not let it', async () => {
		const stored: Array<[INodeExecutionData[], object]> = [];
		let isLet = true;
		jest.mocked(waitForTasks).mockImplementation(async (_, works) => ({
			outcomes: works.map(({ task }) => ({ items: [{ json: task }] })),
			async fallAsleep(items, failures) {
				if (!isLet) throw new Error('No active execution');
				stored.push([items, failures]);
			},
		}));
		const run = { readWait, answer: refuseOne, goesOn: true };
		const { output } = await create(run);
		expect(stored).toMatchObject([
			[output, { 1: { message: expect.stringContaining('did not accept') as string } }],
		]);
		isLet = false;
		expect((await create(run)).error).toMatchObject({
			message: 'No active execution',
			description: expect.stringContaining('task of 0, task of 2') as string,
		});
	});
});

describe('a run that n8n repeats', () => {
	const noPrompt: CreatingOptions['prompt'] = ({ index }) => {
		throw new Error(`read item ${index}`);
	};

	it('reads nothing but the credential of an item that has a task', async () => {
		const kept = {};
		await create({ kept, readWait });
		const { output, sent } = await create({ kept, readWait, prompt: noPrompt });
		expect([output, sent]).toEqual([[0, 1, 2].map((item) => ended(item)), []]);
	});

	it('names the tasks that it has in the error of another item', async () => {
		const kept = {};
		await create({ kept, input: [{}] });
		const { error } = await create({ kept, prompt: noPrompt });
		const description = 'This task exists. Look at it with Get: task of 0';
		expect(error).toMatchObject({ message: 'read item 1 [item 1]', description });
	});

	it('waits as the first try did, whatever its expressions return then', async () => {
		const kept = {};
		await create({ kept, readWait });
		const first = lastWait()?.[2].wait;
		await create({ kept, readWait: () => ({ ...WAIT, limit: 2 }) });
		expect(lastWait()?.[2].wait).toBe(first);
	});

	it('sleeps on with the same items and end, if it sleeps', async () => {
		const kept = {};
		const record = openRecord(buildContext({ kept }));
		record.openWait(() => WAIT);
		record.sleep({ until: 5_000, input: [], failures: {} });
		const stored = [{ json: { taskId: 'task' } }];
		const putExecutionToWait = jest.fn();
		const more = { putExecutionToWait, getExecuteData: () => ({ data: { main: [stored] } }) };
		const { output, sent } = await create({ kept, readWait, more });
		expect([output, sent]).toEqual([stored, []]);
		expect(putExecutionToWait.mock.calls).toEqual([[new Date(105_000)]]);
	});
});

describe('a run that falls asleep with an item that failed', () => {
	const described = Object.assign(new Error('Wrong'), { description: 'Said by n8n' });

	it.each<[string, Error]>([
		['of a field', new UserError('Wrong', { description: 'Correct it.' })],
		['of a run that was refused', new RefusedRunError('Too many', { description: 'Give fewer.' })],
		['of the service', refuse(402)],
		["of n8n's", described],
	])('creates nothing when it is woken, and outputs an error %s again', async (_, failure) => {
		const kept = {};
		jest.mocked(waitForTasks).mockImplementation(async (_context, works, { record }) => {
			const outcomes = works.map(({ task }) => ({ items: [{ json: task }] }));
			if (record.woken) return { outcomes };
			const fallAsleep = async (_items: unknown, failures: Sleep['failures']) =>
				void record.sleep({ until: 2, input: [], failures, woken: [] });
			return { outcomes, fallAsleep };
		});
		const prompt: CreatingOptions['prompt'] = ({ index }) => {
			if (index === 1) throw failure;
			return String(index);
		};
		const asleep = await create({ kept, readWait, goesOn: true, prompt });
		expect(asleep.output).toMatchObject([started(0), failed(1, failure.message), started(2)]);
		jest.mocked(decideWait).mockClear();
		// n8n stores it in between.
		const stored = JSON.parse(JSON.stringify(kept)) as object;
		const woken = await create({ kept: stored, readWait, goesOn: true });
		expect([woken.output, woken.sent]).toEqual([asleep.output, []]);
		expect(decideWait).not.toHaveBeenCalled();
		expect(lastWait()?.[2].decision).toEqual({});
	});
});

describe('a retry from the list', () => {
	const retry = { executionId: '2' };

	it('takes the tasks of the same requests, and polls, because callbacks go elsewhere', async () => {
		const kept = {};
		await create({ kept, readWait });
		jest.mocked(decideWait).mockClear();
		const prompt: CreatingOptions['prompt'] = ({ index }) =>
			index === 1 ? 'other' : String(index);
		const { output, sent } = await create({ kept, readWait, prompt, ...retry });
		expect(sent).toEqual(['other']);
		expect(output).toEqual([ended(0), ended(1, 'other'), ended(2)]);
		expect(decideWait).not.toHaveBeenCalled();
		const reason = expect.stringContaining('created by an earlier execution') as string;
		expect(lastWait()?.[2].decision).toEqual({ reason });
	});
});

describe('Maximum Tasks per Run', () => {
	const readCount = (kept: object) => openRecord(buildContext({ kept })).shared.count;

	it('counts what exists or may exist, and nothing that was refused or not sent', async () => {
		const kept = {};
		const answer: CreatingOptions['answer'] = (prompt) =>
			prompt === '1' ? 'unknown' : refuseOne(prompt === '2' ? '1' : prompt);
		await create({ kept, answer, goesOn: true, options: { maxTasksPerRun: 3 } });
		expect(readCount(kept)).toBe(2);
		const stopped = {};
		await create({ kept: stopped, answer: () => 'refused', options: { maxTasksPerRun: 3 } });
		expect(readCount(stopped)).toBe(0);
	});

	it('refuses the items without a task, or ends the run', async () => {
		const message = "'Maximum Tasks per Run' in Options is 1";
		for (const goesOn of [true, false]) {
			const kept = {};
			await create({ kept, input: [{}], goesOn });
			const again = await create({ kept, goesOn, options: { maxTasksPerRun: 1 } });
			expect(again.sent).toEqual([]);
			if (goesOn)
				expect(again.output).toMatchObject([started(0), failed(1, message), failed(2, message)]);
			else expect(again.error?.message).toContain(message);
			expect(readCount(kept)).toBe(1);
		}
	});
});

describe('a record that another version of the package has stored', () => {
	const kept = () => ({ run: { version: 2, run: 0, executionId: '1' } });
	const said = 'Nothing was created: another version of this package';

	it('creates nothing, and the error says so', async () => {
		const { error, sent } = await create({ kept: kept() });
		expect([error?.message, sent]).toEqual([expect.stringContaining(said), []]);
	});

	it('is the error of each item in a run that goes on', async () => {
		const { output, sent } = await create({ kept: kept(), goesOn: true });
		expect([output.length, sent]).toEqual([3, []]);
		expect(output).toMatchObject([0, 1, 2].map((item) => failed(item, said)));
	});
});
