import type { IDataObject } from 'n8n-workflow';
import { runModelOperation } from './catalogue';

const run = runModelOperation.bind(undefined, 'getMany');

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

it('each model of the service is an item, with all that the catalogue says of it', async () => {
	const { output, requests } = await run({ search: 'epsilon canvas' });
	expect(output).toStrictEqual([
		{
			model: 'epsilon-canvas/text-to-image',
			title: 'Epsilon Canvas Text to Image',
			provider: 'Epsilon',
			type: 'Text to Image',
			price: '🖼️ 4 pictures: 8 credits\n🖼️ 4 pictures in 4K: 20 credits',
			description: 'Four pictures for each prompt.',
		},
	]);
	expect(requests).toEqual(['/api/v1/models']);
});

it('a model with several types has them in one text, and what the catalogue lacks is left out', async () => {
	const models = [
		{ model: 'bare', title: '', taskType: 'text' },
		{ model: 'two', taskType: ['Text to Image', 'Image Editing'] },
	];
	const { output } = await run({}, () => ({ code: 200, data: { models } }));
	expect(output).toStrictEqual([
		{ model: 'bare' },
		{ model: 'two', type: 'Text to Image, Image Editing' },
	]);
});

it.each<[string, IDataObject, number]>([
	['50 at most', {}, 50],
	['as many as Limit says', { limit: 2 }, 2],
	['all with Return All, whatever Limit says', { returnAll: true, limit: 2 }, 60],
	['all with Return All, if an agent writes it as text', { returnAll: 'true', limit: 2 }, 60],
	['those that have each word of Search', { search: ' NUMBER m-59 ' }, 1],
	['none where no model has the words', { search: 'nothing' }, 0],
])('of 60 models the items are %s', async (_, parameters, count) => {
	const models = Array.from({ length: 60 }, (_one, index) => ({
		model: `m-${index}`,
		title: `Number ${index}`,
	}));
	const { output, error } = await run(parameters, () => ({ code: 200, data: { models } }));
	expect(error).toBeUndefined();
	expect(output).toEqual(
		parameters.search === ' NUMBER m-59 ' ? [models[59]] : models.slice(0, count),
	);
});

it.each([0, -1, 1.5, 'many'])(
	'a limit of %j is refused before anything is asked',
	async (limit) => {
		const { error, requests } = await run({ limit });
		expect(error?.message).toContain("'Limit' must be a whole number of at least 1");
		expect(requests).toEqual([]);
	},
);
