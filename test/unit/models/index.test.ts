import type { INodePropertyOptions } from 'n8n-workflow';
import {
	motionControl,
	imageEdit,
	contract,
	referenceToVideo,
	namedReferences,
	image,
	second,
	type Values,
} from '../../../dev/fixtures/models.cts';
import { models } from '../../../nodes/MediaGeneration/models';
import { toInputSchema, toRequestKey } from '../../../nodes/MediaGeneration/models/field';
import { prepare, show } from '../run/input/prepareInput.cts';

const model = (id: string) => {
	const found = models.find((one) => one.id === id);
	if (!found) throw new Error(`no model ${id}`);
	return found;
};

const request = async (id: string, values: Values, options?: Values) => {
	const { model, input } = await prepare({ parameters: { model: id, ...values, options } });
	return { model, input: show(input) as Values };
};

describe.each(Object.entries(contract))('%s', (id, row) => {
	const { filled, mandatory, sentBlank = [], input } = row;
	const optional = model(id).fields.filter(({ name }) => !(name in mandatory));

	it('asks for what the contract names, no more and no less', () => {
		const names = model(id).fields.map(({ name }) => name);
		expect(names.sort()).toEqual(Object.keys(filled).sort());
	});

	it('sends what is filled in under the names of the contract', async () => {
		expect(await request(id, filled)).toEqual({ model: id, input });
	});

	it('sends nothing of what is left blank but is not mandatory', async () => {
		const kept = Object.fromEntries(Object.keys(mandatory).map((name) => [name, filled[name]]));
		const sent = [...Object.values(mandatory), ...sentBlank];
		expect(Object.keys((await request(id, kept)).input).sort()).toEqual(sent.sort());
	});

	it.each(Object.keys(mandatory))('asks for %s if it is missing', async (name) => {
		const { displayName } = model(id).fields.find((field) => field.name === name) ?? {};
		await expect(request(id, { ...filled, [name]: undefined })).rejects.toThrow(
			`'${displayName}' is required`,
		);
	});

	it('accepts its own defaults', async () => {
		const defaults = Object.fromEntries(optional.map((field) => [field.name, field.default]));
		const { input } = await request(id, { ...filled, ...defaults });
		for (const field of optional)
			expect(input[toRequestKey(field)]).toBe(
				field.default === '' && !field.send?.schema?.isSentBlank ? undefined : field.default,
			);
	});

	it('sends each value of its dropdowns, and lets others be typed', async () => {
		for (const field of model(id).fields.filter(({ type }) => type === 'options')) {
			expect(field.allowArbitraryValues).toBe(true);
			for (const { value } of field.options as INodePropertyOptions[]) {
				const { input } = await request(id, { ...filled, [field.name]: value });
				expect(input[toRequestKey(field)]).toBe(value === '' ? undefined : value);
			}
		}
	});
});

describe('values that cannot be sent', () => {
	it.each<[string, Values, string]>([
		[
			motionControl,
			{ image: 'file:///subject.png' },
			'\'Image\' is "file:///subject.png", but there is no file',
		],
		[motionControl, { mode: 'high' }, "'Resolution' must be digits followed by p"],
		[imageEdit, { imageSize: '16x9' }, "'Aspect Ratio' must be a ratio"],
		[imageEdit, { seed: 1.5 }, "'Seed' must be a whole number"],
		[referenceToVideo, { referenceImages: ['', ' '] }, "'Reference Images' is required"],
		[referenceToVideo, { referenceImages: [] }, "'Reference Images' must have at least 1 entries"],
		[
			referenceToVideo,
			{ duration: 0 },
			"'Duration (Seconds)' must be a whole number of at least 1",
		],
		[namedReferences, { imageReferences: { reference: 'x' } }, "'Reference Images' must be a list"],
		[
			namedReferences,
			{ imageReferences: { reference: [{ image: ' ' }] } },
			"1 › Image' is required",
		],
		[
			namedReferences,
			{ imageReferences: { reference: [{ image }, { image: 'blob:y' }] } },
			'\'Reference Images 2 › Image\' is "blob:y", but there is no file',
		],
	])('of %s: %j', async (id, values, message) => {
		await expect(request(id, { ...contract[id]?.filled, ...values })).rejects.toThrow(message);
	});
});

describe('values that an expression gives in another form', () => {
	it.each<[string, Values, string, unknown]>([
		[referenceToVideo, { duration: '8' }, 'duration', 8],
		[referenceToVideo, { referenceImages: [[image, second]] }, 'reference_image', [image, second]],
		[namedReferences, { generateAudio: 'false' }, 'generate_audio_switch', false],
	])('%s takes %j', async (id, values, key, sent) => {
		const { input } = await request(id, { ...contract[id]?.filled, ...values });
		expect(input[key]).toEqual(sent);
	});
});

it('the limits of files are those of the contract for motion control, and none for others', () => {
	const sides = { minSide: 340, aspect: [5, 2] };
	const schemas = models.flatMap(({ fields }) =>
		Object.values(toInputSchema(fields).properties ?? {}),
	);
	const limited = schemas.filter(({ limits }) => limits);
	expect(limited.map(({ title, limits }) => ({ title, ...limits }))).toEqual([
		{ title: 'Image', ...sides, formats: ['JPG', 'PNG'], maxMegabytes: 10 },
		{
			title: 'Video',
			...sides,
			formats: ['MP4', 'MOV'],
			maxMegabytes: 100,
			duration: { min: 3, max: 30 },
		},
	]);
});

it.each([
	[' brand/edit ', 'brand/edit'],
	[' ', imageEdit],
	[undefined, imageEdit],
])(
	'the option Model ID %j sends the model %s, with the fields of the chosen one',
	async (modelId, sent) => {
		const { filled = {}, input } = contract[imageEdit] ?? {};
		expect(await request(imageEdit, filled, { modelId })).toEqual({ model: sent, input });
	},
);

describe('the list of models', () => {
	it('begins with all models of the service, an exception to the order of names, because no real service has the identifiers of the others', () => {
		const [first, ...names] = models.map(({ name }) => name);
		expect(first).toMatch(/^Any Model of Your Service/);
		expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b)));
	});

	it('has the models that have a row in dev/fixtures/models, and all others', () => {
		expect(models.map(({ id }) => id).sort()).toEqual([...Object.keys(contract), 'any'].sort());
	});
});
