import { createTasks } from '../../../../nodes/MediaGeneration/operations/create/createTasks';
import { openRecord } from '../../../../nodes/MediaGeneration/operations/record/openRecord';
import { buildContext, prepare, refuse, unknown } from '../../n8n';

/** The pauses that were made, in milliseconds. */
const pauses: number[] = [];
let stop = new AbortController();
let stopsInPause = false;
jest.mock('n8n-workflow', () => ({
	...jest.requireActual<object>('n8n-workflow'),
	sleep: async (milliseconds: number) => {
		pauses.push(milliseconds);
		if (stopsInPause) stop.abort();
		await Promise.resolve();
	},
}));

beforeEach(() => {
	pauses.length = 0;
	stop = new AbortController();
	stopsInPause = false;
});

type Answer = Error | string;

/** Creates a task for each item, one after the other; its answers come in turn, the last one again and again. */
async function create(items: Answer[][], credentials: object[] = []) {
	const sent: Array<{ index: number; key?: string }> = [];
	const context = buildContext({ goesOn: true, signal: stop.signal });
	const prepared = items.map(([...answers], index) =>
		prepare(context, index, {
			createTask(_, key) {
				sent.push({ index, key });
				return answers.length > 1 ? answers.shift() : answers[0];
			},
			credentials: credentials[index] ?? {},
			options: { concurrency: 1 },
		}),
	);
	return { sent, results: await createTasks(context, openRecord(context), prepared) };
}

describe('after the outcomes of earlier items', () => {
	const lost = [unknown()];
	it.each<[string, Answer[][], number]>([
		['a task', [['task']], 2],
		['a refusal of the token', [[refuse(401)]], 1],
		['one with the code of too many requests', [[refuse(429, 'Insufficient credits')]], 1],
		['the usage limit of the token', [[refuse(433)]], 1],
		['maintenance', [[refuse(455)]], 1],
		['a refusal of a field', [[refuse(422)]], 2],
		['two unknown outcomes', [lost, lost], 3],
		['three unknown outcomes', [lost, lost, lost], 3],
		['three with a task between them', [lost, lost, ['task'], lost], 5],
		['three with a refusal between them', [lost, lost, [refuse(422)], lost], 5],
	])('%s, the last one is sent or not', async (_, before, requests) => {
		const { sent } = await create([...before, ['task']]);
		expect(sent).toHaveLength(requests);
	});

	it('nothing more is sent for that account, and its items say why and what to do', async () => {
		const accounts = ['poor', 'poor', 'rich'].map((accessToken) => ({ accessToken }));
		const { sent, results } = await create([[refuse(402, 'empty')], ['b'], ['c']], accounts);
		expect(sent.map(({ index }) => index)).toEqual([0, 2]);
		const message = expect.stringMatching(/^This item was not sent: .*too few credits/) as string;
		const description = expect.stringContaining('Top up') as string;
		expect(results.slice(1)).toMatchObject([
			{ error: { message, description } },
			{ task: { taskId: 'c' } },
		]);
	});
});

describe('a creation with an idempotency key', () => {
	const header = { advancedSettings: true, idempotencyHeader: 'Idempotency-Key' };
	const task = { task: { taskId: 'task' } };
	const failed = (error: object) => ({ error: expect.objectContaining(error) as Error });
	const isUnknown = failed({ outcome: unknown().outcome });

	it.each<[string, Answer[], number, object]>([
		['is sent once if it is answered', ['task'], 1, task],
		['is sent again after a lost answer', [unknown(), 'task'], 2, task],
		['is sent four times at most', [unknown()], 4, isUnknown],
		['stays unknown when refused after a lost answer', [unknown(), refuse(402)], 4, isUnknown],
		[
			'keeps the ID that one of the answers named',
			[unknown(), unknown('named'), unknown()],
			4,
			failed({ outcome: unknown('named').outcome }),
		],
		['is refused at once', [refuse(422)], 1, failed({ code: 422 })],
	])('%s', async (_, answers, requests, result) => {
		const { sent, results } = await create([answers], [header]);
		expect(results).toMatchObject([result]);
		expect(sent).toHaveLength(requests);
		expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
		expect(sent[0]?.key).toEqual(expect.any(String));
		expect(pauses.filter((pause) => pause > 0)).toEqual(
			[1_000, 2_000, 4_000].slice(0, requests - 1),
		);
	});

	it('is not sent again once the execution is stopped', async () => {
		stopsInPause = true;
		const { sent, results } = await create([[unknown()], ['task']], [header, header]);
		expect(sent).toHaveLength(1);
		expect(results).toMatchObject([isUnknown, undefined]);
	});

	it('is needed: without one, a creation is sent once', async () => {
		const { sent } = await create([[unknown(), 'task']]);
		expect(sent).toEqual([{ index: 0 }]);
	});
});
