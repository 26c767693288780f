import { UnknownOutcomeError } from '../../../nodes/MediaGeneration/api/failure';
import { createTasks } from '../../../nodes/MediaGeneration/run/send';
import { openRecord } from '../../../nodes/MediaGeneration/run/open';
import { buildContext, prepare, refuse, unknown } from '../n8n';

type Answer = Error | string;

/** Unknown as well: it is how services answer for a link that they can't read. */
const perhapsRefused = () => new UnknownOutcomeError({ message: 'An internal fault' }, 500, true);

/** Creates a task for each item, one after the other; its answers come in turn, the last one again and again. */
async function create(items: Answer[][], credentials: object[] = [], kept = {}) {
	const sent: Array<{ index: number }> = [];
	const context = buildContext({ goesOn: true, kept });
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
	const run = { context, record: openRecord(context), called: Date.now() };
	return { sent, results: await createTasks(run, prepared) };
}

describe('after the outcomes of earlier items', () => {
	const lost = [unknown()];
	const quick = [perhapsRefused()];
	const nine = Array<Answer[]>(9).fill(quick);
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
		['nine that may be refusals', nine, 10],
		['ten that may be refusals', [...nine, quick], 10],
		['ten with a refusal between them', [...nine, [refuse(422)], quick], 11],
		['ten with a task between them', [...nine, ['task'], quick], 12],
		['three with one that may be a refusal between them', [lost, quick, lost, quick, lost], 5],
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

it('tries of n8n count together, each account for itself', async () => {
	const kept = {};
	const [poor, rich] = [{ accessToken: 'poor' }, { accessToken: 'rich' }];
	const lost = unknown();
	const first = await create([[lost], [lost], [refuse(400)]], [poor, poor, rich], kept);
	expect(first.sent).toHaveLength(3);
	const second = await create(
		[[lost], [lost], ['a'], [lost], ['b']],
		[poor, poor, rich, poor, rich],
		kept,
	);
	// The first two are known from before.
	expect(second.sent.map(({ index }) => index)).toEqual([2, 3, 4]);
	const third = await create([['a'], ['a'], ['a'], ['a'], ['a'], ['a']], Array(6).fill(poor), kept);
	expect(third.sent).toEqual([]);
	const message = expect.stringMatching(
		/^This item was not sent: for 3 items in a row it is unknown .* \(The service broke off\)$/,
	) as string;
	expect(third.results[5]).toMatchObject({ error: { message } });
});

it('a creation without an answer is sent once', async () => {
	const { sent } = await create([[unknown(), 'task']]);
	expect(sent).toEqual([{ index: 0 }]);
});
