import { buildDocument } from '../../../dev/service/catalogue.cts';
import { answerFromCorpus, MISSING, schemaPath } from '../corpus';
import { runNode } from './runNode.cts';

/** Runs an operation of the resource Model. */
const run = async (
	operation: string,
	parameters: object,
	answer: (path: string) => object = answerFromCorpus,
) => await runNode({ resource: 'model', operation, ...parameters }, { answer });

const getMany = run.bind(undefined, 'getMany');
/** Gets the fields of a model, chosen as the editor stores it. */
const getFields = async (value: string, answer?: (path: string) => object) =>
	await run('getFields', { anyModel: { __rl: true, mode: 'list', value } }, answer);

describe('Get Many', () => {
	it('outputs each model with all that the catalogue says of it', async () => {
		const { items, requests } = await getMany({ search: 'epsilon canvas', limit: 9 });
		expect(items).toStrictEqual([
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

	it('joins several types, and leaves out what the catalogue lacks', async () => {
		const models = [{ model: 'bare' }, { model: 'two', taskType: ['Image', 'Editing'] }];
		const { items } = await getMany({}, () => ({ code: 200, data: { models } }));
		expect(items).toStrictEqual([{ model: 'bare' }, { model: 'two', type: 'Image, Editing' }]);
	});

	it.each<[string, object, number, number?]>([
		['50 at most', {}, 50],
		['as many as Limit says', { limit: 2 }, 2],
		[
			'all with Return All, as an agent writes it, whatever Limit says',
			{ returnAll: 'true', limit: 2 },
			60,
		],
		['those that have each word of Search', { search: ' 59 M ' }, 1, 59],
	])('of 60 models, outputs %s', async (_, parameters, count, first = 0) => {
		const models = Array.from({ length: 60 }, (_one, at) => ({
			model: `m-${at}`,
		}));
		const { items } = await getMany(parameters, () => ({ code: 200, data: { models } }));
		expect(items).toEqual(models.slice(first, first + count));
	});

	it.each([0, 1.5])('has an error for a limit of %j before anything is asked', async (limit) => {
		const { error, requests } = await getMany({ limit });
		expect(error?.message).toContain("'Limit' must be a whole number of at least 1");
		expect(requests).toEqual([]);
	});

	it('says what to do without a catalogue', async () => {
		const { error } = await getMany({}, () => MISSING);
		expect(error?.message).toContain('This service lists no models');
		expect(error?.description).toContain('the endpoint paths in the credential');
	});
});

describe('Get Fields', () => {
	it('outputs each field of the model, with one request', async () => {
		const model = 'epsilon-canvas/text-to-image';
		const { items, requests } = await getFields(model);
		expect(items).toMatchObject([
			{ name: 'prompt', title: 'Prompt', type: 'string', required: true },
			{ title: 'Aspect Ratio', type: 'string', default: '1:1' },
			{ options: ['1K', '2K', '4K'], required: false },
			{ type: 'array', summary: expect.stringContaining('at most 5') },
			{ type: 'integer' },
		]);
		expect(requests).toEqual([schemaPath(model)]);
	});

	it('takes a model as plain text, as agents give it', async () => {
		const { items } = await run('getFields', { anyModel: ' eta-upscale ' });
		expect(items.length).toBeGreaterThan(0);
	});

	const describedBy = (openapi: unknown) => () => ({ code: 200, data: { openapi } });
	it.each([
		['has no such model', () => MISSING, /lists no fields of a model "eta"\. Check its name/],
		['has no fields of the model yet', describedBy(null), /doesn't say yet which fields eta takes/],
		[
			'describes it in a text that n8n would run',
			describedBy(buildDocument({ properties: { '={{ 1 }}': {} } })),
			/would run as expressions/,
		],
	])('says that the service %s', async (_, answer, words) => {
		const { error } = await getFields('eta', answer);
		expect(`${error?.message} ${error?.description}`).toMatch(words);
	});
});
