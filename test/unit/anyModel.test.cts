import fc from 'fast-check';
import { UserError, type ResourceMapperField } from 'n8n-workflow';
import { readExample } from '../../dev/fixtures/examples.cts';
import {
	buildDocument,
	buildPost,
	compileBody,
	corpus,
	TASK_PATH,
} from '../../dev/service/catalogue.cts';
import { custom } from '../../nodes/MediaGeneration/models/any/custom';
import { Media, replaceEach } from '../../nodes/MediaGeneration/models/media';
import {
	isOwnEntry,
	listFields,
	toMapperFields,
} from '../../nodes/MediaGeneration/models/any/schemaFields';

type Values = Record<string, unknown>;

const URL_OF_UPLOAD = 'https://files.example/uploaded.png';

const modelsWithFields = corpus.flatMap(({ entry: { model }, openapi }) => {
	const { fields } = toMapperFields(model, openapi);
	return fields.length && openapi !== null && typeof openapi === 'object'
		? [{ model, openapi, fields }]
		: [];
});

const findModel = (name: string) => {
	const found = modelsWithFields.find(({ model }) => model === name);
	if (!found) throw new Error(`The corpus has no fields of ${name}`);
	return found;
};

const listProperties = (fields: ResourceMapperField[]) =>
	fields.filter(({ id }) => !isOwnEntry(id));

/** Makes the request of a workflow that the editor stored, with more parameters and Options if need be. */
async function buildRequest(
	model: string,
	values: Values | null,
	{ options = {}, ...parameters }: Values & { options?: Values } = {},
	{ fields }: { fields: ResourceMapperField[] } = findModel(model),
) {
	const all: Values = {
		customModel: { __rl: true, mode: 'list', value: model },
		inputMode: 'fields',
		customFields: { mappingMode: 'defineBelow', value: values, schema: fields },
		...parameters,
	};
	return await custom.request(
		(name) => all[name],
		(name) => options[name],
		async (name) => corpus.find(({ entry }) => entry.model === name)?.openapi,
	);
}

/** The fields of a workflow that an AI wrote: it stores no description of the model. */
const NO_FIELDS = { fields: [] };
const WRITTEN = 'epsilon-2/text-to-video';

/** Makes an input as it is sent, with every file uploaded. */
const upload = async (input: Values) =>
	await replaceEach(input, Media, ({ isUrl, source }) => (isUrl ? source : URL_OF_UPLOAD));

/** Makes the input of a workflow as it is sent, once it was checked. */
async function buildInput(...workflow: Parameters<typeof buildRequest>) {
	const { input, check } = await buildRequest(...workflow);
	check?.(input);
	return await upload(input);
}

describe('the fields of a model', () => {
	it.each([
		['kappa-7/preview', "doesn't say yet"],
		['nu/broken-input', "can't be understood"],
		['xi-sketch', "can't be understood"],
		['mu-random/postcard', 'names no fields'],
		['sigma-chat-5', 'answers at once'],
		['psi-reader/recognize', 'answers at once'],
	])('of %s are none, and the reason leads on', (name, reason) => {
		const found = corpus.find(({ entry }) => entry.model === name);
		const { fields, emptyFieldsNotice } = toMapperFields(name, found?.openapi);
		expect(fields).toEqual([]);
		expect(emptyFieldsNotice).toMatch(reason);
		expect(emptyFieldsNotice).toMatch(/'Input Mode' to JSON|another model/);
	});

	it.each([
		['epsilon-2/text-to-video', true],
		['iota/remove-background', false],
		// Its name ends in a blank.
		['mu/image-to-video', false],
	])('leave the prompt of %s to the field of the node: %p', (name, leavesIt) => {
		const { fields } = findModel(name);
		expect(fields.some(({ id, display }) => id === 'prompt' && !display)).toBe(leavesIt);
		const none = fields.find(({ id }) => id === '$noPrompt');
		expect(none).toEqual(
			leavesIt ? undefined : expect.objectContaining({ display: false, defaultValue: true }),
		);
	});

	it.each([
		['typed', { prompt: 'typed' }],
		[' ', { prompt: 'stored' }],
	])("send the node's prompt %j before a stored one", async (prompt, input) => {
		const stored = { prompt: 'stored' };
		expect(await buildInput('epsilon-2/text-to-video', stored, { prompt })).toEqual(input);
	});

	it.each<[string, string, string, object]>([
		['epsilon-2/text-to-video', 'prompt', 'Prompt', { display: false, required: false }],
		[
			'epsilon-2/text-to-video',
			'duration',
			'Duration (default 5)',
			{ type: 'options', options: [{ value: '5' }, { value: '10' }] },
		],
		[
			'epsilon-2/text-to-video',
			'cfg_scale',
			'CFG Scale (0 to 1; default 0.5)',
			{ type: 'number', required: false },
		],
		['epsilon-2/image-to-video', 'image_url', 'Image URL (file)', {}],
		['zeta-song-v5', 'instrumental', 'Instrumental', { type: 'boolean', required: true }],
		[
			'theta-pro/storyboard',
			'shots',
			'Shots (JSON list, 1 to 6)',
			{ type: 'array', required: true },
		],
		['epsilon-canvas/text-to-image', 'colors', 'Colors (list, up to 5)', { type: 'string' }],
		['Iota.HD/Text-2-Video', 'quality', 'Quality (deprecated)', { removed: true }],
		['mu/image-to-video', 'image_urls ', 'Image URLs (file)', { type: 'string', required: true }],
		['Chi-Image/Edit-Plus', 'input_urls', 'Input URLs (files, 1 to 3)', {}],
	])('of %s have %j, named %j, as the editor needs it', (name, id, displayName, more) => {
		const field = findModel(name).fields.find((one) => one.id === id);
		expect(field).toMatchObject({ displayName, ...more });
	});

	it.each([
		[
			'epsilon-2/text-to-video',
			'prompt',
			'Prompt (required; 1 to 2,500 characters)',
			'The scene, the action and the camera, in plain language.',
		],
		[
			'Chi-Image/Edit-Plus',
			'image_size',
			'Image Size (text or JSON; for example "square"; default square)',
			'A name, or a size in pixels.',
		],
	])('of %s say in a guide all that is known of %j', (name, id, title, description) => {
		const guide = findModel(name).fields.find(({ id }) => id === '$guide');
		expect(guide?.options).toContainEqual({ name: title, value: id, description });
	});

	it('say in the guide which of them belong together', () => {
		const { fields } = findModel('kappa-6/reference-to-video');
		const guide = fields.find(({ id }) => id === '$guide');
		expect(guide?.options?.[0]?.name).toBe(
			'Fill in one of: Prompt + Reference Image URLs; or Reference Video; or First Frame URL + Last Frame URL',
		);
	});

	it('of the example are what its workflow stores', () => {
		const node = readExample('any-model').nodes.find(({ name }) => name === 'Any model');
		const { fields } = findModel('epsilon-2/image-to-video');
		expect(node?.parameters?.customFields).toMatchObject({ schema: fields });
	});
});

it.each([true, false])(
	'a model needs a callback if its stored fields say so: %p',
	async (needs) => {
		const properties = { callBackUrl: {}, input: { properties: { size: { type: 'string' } } } };
		const post = buildPost({ properties, required: needs ? ['callBackUrl'] : [] });
		const fields = toMapperFields(WRITTEN, { paths: { [TASK_PATH]: post } });
		expect((await buildRequest(WRITTEN, {}, {}, fields)).needsCallback).toBe(needs);
	},
);

describe('what is sent of the fields', () => {
	it.each<[string, string, Values | null, unknown]>([
		[
			'leaves out what is blank, also where the service has a default',
			'epsilon-2/text-to-video',
			{ prompt: 'x', negative_prompt: '', duration: null },
			{ prompt: 'x' },
		],
		[
			'keeps the spaces of names',
			'mu/image-to-video',
			{ 'prompt ': 'x', 'image_urls ': 'https://a.example/1.png', 'resolution ': '480p' },
			{ 'prompt ': 'x', 'image_urls ': ['https://a.example/1.png'], 'resolution ': '480p' },
		],
		[
			'reads JSON, and finds the media in it',
			'omega-layers/compose',
			{
				canvas: '{"width":100,"height":200}',
				root: '{"name":"a","image_url":"data","children":[{"name":"b","image_url":"https://a.example/b.png"}]}',
			},
			{
				canvas: { width: 100, height: 200 },
				root: {
					name: 'a',
					image_url: URL_OF_UPLOAD,
					children: [{ name: 'b', image_url: 'https://a.example/b.png' }],
				},
			},
		],
		['sends a model without required fields as it is', 'iota/remove-background', null, {}],
	])('%s', async (_, model, values, input) => {
		expect(await buildInput(model, values)).toStrictEqual(input);
	});

	it('takes a file in a field that the user names, though nothing says that it takes one', async () => {
		const values = { prompt: 'x', video_url: 'https://a.example/v.mp4', subject: 'data' };
		const { input } = await buildRequest('upsilon-4/video-edit', values);
		expect(input.subject).toBe('data');
		const options = { mediaFields: 'mask, subject' };
		const marked = (await buildRequest('upsilon-4/video-edit', values, { options })).input.subject;
		expect(marked).toBeInstanceOf(Media);
		expect(marked).toMatchObject({ source: 'data', isGuess: false });
	});

	it('takes as words what only the prose calls a file, unless the item has such a binary field', async () => {
		const values = { video_urls: 'https://a.example/v.mp4', source: 'words' };
		expect((await buildRequest('tau/video-extend', values)).input.source).toMatchObject({
			isGuess: true,
		});
	});
});

describe('what an AI writes', () => {
	it('is sent in the types of the model, which the workflow does not store', async () => {
		const values = { prompt: 'A fox', duration: 5, cfg_scale: '0.5', sound: 'true' };
		const sent = { prompt: 'A fox', duration: '5', cfg_scale: 0.5, sound: true };
		expect(await buildInput(WRITTEN, values, {}, NO_FIELDS)).toEqual(sent);
	});

	it.each(['fields', 'json'])(
		'is sent as it is in %s of a model without a description',
		async (inputMode) => {
			const input = { anything: 5, goes: ['a'] };
			const more = { inputMode, customInput: input };
			expect(await buildInput('unheard-of', input, more, NO_FIELDS)).toEqual(input);
			expect(await buildInput('kappa-7/preview', input, more, NO_FIELDS)).toEqual(input);
			const request = await buildRequest('kappa-7/preview', input, more, NO_FIELDS);
			expect(request.needsCallback).toBe(false);
		},
	);

	it('is sent in Extra Fields, whatever its names', async () => {
		const { check } = await buildRequest(WRITTEN, { prompt: 'A fox' }, {}, NO_FIELDS);
		expect(() => check?.({ prompt: 'A fox', beyond: 1 })).not.toThrow();
	});
});

describe('the list for AI builders', () => {
	it.each(modelsWithFields)(
		"has each field of $model by the service's own name",
		({ model, openapi, fields }) => {
			const listed = listFields(model, openapi);
			if (typeof listed === 'string') throw new Error(listed);
			const json = JSON.stringify(openapi);
			const own = listProperties(fields);
			expect(own.filter(({ id }) => !json.includes(`${JSON.stringify(id)}:`))).toEqual([]);
			expect(listed.map(({ value }) => value).filter((value) => value !== '$forms')).toEqual(
				own.map(({ id }) => id),
			);
			for (const { id, required } of own.filter(({ display }) => display))
				expect(listed.find(({ value }) => value === id)?.name).toContain(
					`${id} (${required ? 'required' : 'optional'}`,
				);
		},
	);

	it('has types, choices and limits', () => {
		expect(listFields(WRITTEN, findModel(WRITTEN).openapi)).toMatchObject([
			{
				value: 'prompt',
				name: 'prompt (required; text; 1 to 2,500 characters)',
				description: 'The scene, the action and the camera, in plain language.',
			},
			{ value: 'negative_prompt' },
			{ value: 'duration', name: 'duration (optional; text; 5, 10; default 5)' },
			{ value: 'aspect_ratio' },
			{ value: 'cfg_scale', name: 'cfg_scale (optional; a number; 0 to 1; default 0.5)' },
			{ value: 'sound', name: 'sound (optional; true or false; default false)' },
		]);
	});
});

describe('what is refused before it is paid for', () => {
	it.each<[string, Values, RegExp]>([
		['epsilon-2/text-to-video', {}, /'Prompt' is required/],
		['epsilon-2/text-to-video', { prompt: 'x', duration: '7' }, /must be one of 5, 10, but is "7"/],
		['theta-pro/storyboard', { shots: '[{"duration":5}]' }, /'Shots 1 › Prompt' is required/],
		[
			'zeta-3.1/image-to-video',
			{ prompt: 'abc', image_urls: 'data', first_frame_url: 'data' },
			/only one of these forms/,
		],
		['zeta-3.1/image-to-video', { prompt: 'abc' }, /one of these forms/],
	])('%s %j', async (model, values, message) => {
		await expect(buildInput(model, values)).rejects.toThrow(message);
	});

	it.each([
		['fields', { img: 'a' }, /^img in Input is no field of .*\. Its fields are (?=.*prompt)/],
		['fields', { img: 'a', Prompt: 'b' }, /^img, Prompt in Input are no fields of/],
		['json', { img: 'a' }, /^img in Input is no field of/],
	])('in %s that an AI wrote, names of %j', async (inputMode, values, message) => {
		const more = { inputMode, customInput: values };
		await expect(buildRequest(WRITTEN, values, more, NO_FIELDS)).rejects.toThrow(message);
	});

	it('a value that the model does not take, in fields that an AI wrote', async () => {
		await expect(buildInput(WRITTEN, {}, {}, NO_FIELDS)).rejects.toThrow(/ is required$/);
	});

	it('fields of another model', async () => {
		const customModel = { __rl: true, mode: 'id', value: 'eta-upscale' };
		const request = buildRequest('epsilon-2/text-to-video', { prompt: 'x' }, { customModel });
		await expect(request).rejects.toThrow(
			'The fields in Input are those of epsilon-2/text-to-video, but the model is eta-upscale',
		);
	});
});

describe('a hostile description', () => {
	/** Makes the input of a model with these properties. */
	async function build(properties: object, required: string[], values: Values) {
		const openapi = buildDocument({ type: 'object', properties, required });
		return await buildInput('hostile', values, {}, toMapperFields('hostile', openapi));
	}

	it.each([
		5,
		{ properties: null, required: {}, oneOf: [5] },
		[[]],
		{ type: [1], items: 'x' },
		{ properties: { prompt: { pattern: '^(a+)+$' }, number: {} } },
	])('that a workflow stores as %j takes anything', async (inputSchema) => {
		const { fields } = findModel('eta-upscale');
		const stored = fields.map((field) =>
			'inputSchema' in field ? { ...field, inputSchema } : field,
		);
		const values = { prompt: `${'a'.repeat(32)}!`, number: 5 };
		expect(await buildInput('eta-upscale', values, {}, { fields: stored })).toEqual(values);
	});

	it.each(['$schema', '$guide', '$noPrompt'])(
		'leaves the fields on when a property has the name %s of an entry of ours',
		async (name) => {
			const properties = { [name]: { type: 'string' }, size: { type: 'integer', maximum: 5 } };
			expect(await build(properties, [], { $guide: 'size', size: '3' })).toEqual({ size: 3 });
			await expect(build(properties, [], { size: 6 })).rejects.toThrow("'Size' must be at most 5");
			await expect(build(properties, [name], { size: 3 })).rejects.toThrow('is required');
		},
	);

	it('has a required property with a name that every object inherits', async () => {
		const properties = { toString: { type: 'string' }, hasOwnProperty: {} };
		const required = ['toString', 'hasOwnProperty'];
		await expect(build(properties, required, {})).rejects.toThrow("'To String' is required");
		const values = { toString: 'x', hasOwnProperty: 1 };
		expect(await build(properties, required, values)).toEqual(values);
	});
});

describe('an independent validator', () => {
	/** Patterns are left to the service. */
	const removePatterns = (openapi: object) =>
		JSON.parse(
			JSON.stringify(openapi, (key, part: unknown) => (key === 'pattern' ? undefined : part)),
		) as object;

	const words = ['a', 'three words here', '5', '1:1', 'https://a.example/1.png', 'data'];
	const word = fc.constantFrom(...words);
	const json = fc.constantFrom(
		'{"width":1024,"height":768}',
		'{"text":"a","position":"top"}',
		'{"name":"a"}',
		'[{"prompt":"a","duration":5}]',
		'[{"text":"a","voice":"b"}]',
		'[[1,2]]',
		'[]',
		'{}',
	);
	const number = fc.oneof(
		fc.integer({ min: -3, max: 40 }),
		fc.double({ min: -1, max: 2, noNaN: true }),
	);
	const list = fc.array(word, { maxLength: 5 }).map((words) => words.join(', '));

	/** Values that the editor stores for a field, right and wrong ones. */
	function anyValue({ type, options }: ResourceMapperField): fc.Arbitrary<unknown> {
		if (options)
			return fc.constantFrom(...options.map((option) => 'value' in option && option.value));
		switch (type) {
			case 'number':
				return number;
			case 'boolean':
				return fc.boolean();
			case 'string':
				return fc.oneof({ weight: 3, arbitrary: word }, list, json);
			default:
				return json;
		}
	}

	it.each(modelsWithFields)(
		'agrees on what is sent to $model and what is refused',
		async ({ model, openapi, fields }) => {
			const validate = compileBody(`${model}, without patterns`, removePatterns(openapi));
			const entries = listProperties(fields).map((field) => [field.id, anyValue(field)] as const);
			const filledIn = fc.record(Object.fromEntries(entries), { requiredKeys: [] });
			const agrees = fc.asyncProperty(filledIn, async (values) => {
				const { input, check } = await buildRequest(model, values);
				const sent = await upload(input);
				let isAccepted = true;
				try {
					check?.(input);
				} catch (error) {
					expect(error).toBeInstanceOf(UserError);
					isAccepted = false;
				}
				expect({ sent, isAccepted }).toEqual({
					sent,
					isAccepted: validate({ model, input: sent }),
				});
			});
			await fc.assert(agrees, { numRuns: 60 });
		},
	);
});
