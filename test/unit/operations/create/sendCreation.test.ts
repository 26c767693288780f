import { createTasks } from '../../../../nodes/MediaGeneration/operations/create/createTasks';
import { openRecord } from '../../../../nodes/MediaGeneration/operations/record/openRecord';
import { buildContext, prepare, refuse, unknown } from '../../n8n';

type Answer = Error | string;

/** Creates a task for each item, one after the other; its answers come in turn, the last one again and again. */
async function create(items: Answer[][], credentials: object[] = []) {
	const sent: Array<{ index: number }> = [];
	const context = buildContext({ goesOn: true });
	const prepared = items.map(([...answers], index) =>
		prepare(context, index, {
			createTask() {
				sent.push({ index });
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

it('a creation without an answer is sent once', async () => {
	const { sent } = await create([[unknown(), 'task']]);
	expect(sent).toEqual([{ index: 0 }]);
});
