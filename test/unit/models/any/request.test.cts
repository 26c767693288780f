import fc from 'fast-check';
import { UserError, type ResourceMapperField } from 'n8n-workflow';
import {
	buildDocument,
	compileBody,
	corpus,
	TASK_PATH,
} from '../../../../dev/service/catalogue.cts';
import {
	getPart,
	takesJson,
	type JsonSchema,
} from '../../../../nodes/MediaGeneration/models/any/schema';
import { isOwnEntry } from '../../../../nodes/MediaGeneration/models/any/schema';
import { readSchema } from '../../../../nodes/MediaGeneration/models/any/schema';
import { anyInput } from '../../../../nodes/MediaGeneration/models/any/fields';
import { requestAnyModel } from '../../../../nodes/MediaGeneration/models/any/request';
import { toJsonInput } from '../../../../nodes/MediaGeneration/models/jsonInput';
import { Media, replaceEach } from '../../../../nodes/MediaGeneration/models/media';
import { findModel, modelsWithFields, readFields } from './modelFields.ts';

type Values = Record<string, unknown>;

const URL_OF_UPLOAD = 'https://files.example/uploaded.png';

/** Makes the request of a workflow that the editor stored, with more parameters and Options if need be. */
async function buildRequest(
	model: string,
	values: Values | null,
	{ options = {}, ...parameters }: Values & { options?: Values } = {},
	{ fields }: { fields: ResourceMapperField[] } = findModel(model),
) {
	const all: Values = {
		anyModel: { __rl: true, mode: 'list', value: model },
		inputMode: 'fields',
		anyFields: { mappingMode: 'defineBelow', value: values, schema: fields },
		...parameters,
	};
	return await requestAnyModel({
		read: (name) => all[name],
		option: (name) => options[name],
		columns: {},
		hasFile: () => false,
		describe: async (name) => corpus.find(({ entry }) => entry.model === name)?.openapi,
	});
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
	return await upload(toJsonInput(input));
}

describe('what is sent of the fields', () => {
	it.each<[string, string, Values | null, unknown]>([
		[
			'leaves out what is blank, also where the service has a default',
			'epsilon-2/text-to-video',
			{ prompt: 'x', negative_prompt: '', duration: null },
			{ prompt: 'x' },
		],
		[
			'takes names as they are without blanks',
			'mu/image-to-video',
			{ prompt: 'x', image_urls: 'https://a.example/1.png', resolution: '480p' },
			{ prompt: 'x', image_urls: ['https://a.example/1.png'], resolution: '480p' },
		],
		['sends a model whose required list is left out', 'theta-pro/storyboard', null, {}],
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
	])('%s', async (_, model, values, input) => {
		expect(await buildInput(model, values)).toStrictEqual(input);
	});

	it.each([
		['typed', { prompt: 'typed' }],
		[' ', { prompt: 'stored' }],
	])("prefers the node's prompt %j to a stored one", async (prompt, input) => {
		const stored = { prompt: 'stored' };
		expect(await buildInput('epsilon-2/text-to-video', stored, { prompt })).toEqual(input);
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
			const more = { inputMode, anyInput: input };
			expect(await buildInput('unheard-of', input, more, NO_FIELDS)).toEqual(input);
			expect(await buildInput('kappa-7/preview', input, more, NO_FIELDS)).toEqual(input);
		},
	);

	it('is sent as JSON with names that the document lacks, and a warning that lists those it has', async () => {
		const json = (anyInput: Values) =>
			buildRequest(WRITTEN, null, { inputMode: 'json', anyInput }, NO_FIELDS);
		const { input, warning } = await json({ prompt: 5, nsfw_checker: false });
		expect(input).toEqual({ prompt: 5, nsfw_checker: false });
		expect(warning).toMatch(/^nsfw_checker in Input is no field of .* Its fields are prompt \(req/);
		expect((await json({ prompt: 'x' })).warning).toBeUndefined();
	});

	it('is sent in Extra Fields, whatever its names', async () => {
		const { check } = await buildRequest(WRITTEN, { prompt: 'A fox' }, {}, NO_FIELDS);
		expect(() => check?.({ prompt: 'A fox', beyond: 1 })).not.toThrow();
	});
});

/** The document that the service describes a model of this input by. */
const documentOf = (...names: string[]) =>
	buildDocument({ properties: Object.fromEntries(names.map((name) => [name, {}])) });

/** Makes the request of JSON, for a model that the service describes so. */
const requestJson = async (
	anyInput: unknown,
	openapi?: object,
	{ files = [], ...more }: Values & { files?: string[] } = {},
) => {
	const all: Values = { anyModel: 'brand/any', inputMode: 'json', anyInput, ...more };
	return await requestAnyModel({
		read: (name) => all[name],
		option: () => undefined,
		columns: {},
		hasFile: (name) => files.includes(name),
		describe: async () => openapi,
	});
};

describe("the node's prompt beside JSON", () => {
	it.each<[string, object]>([
		['is added', { seed: 1 }],
		['counts in place of another', { seed: 1, prompt: 'written' }],
		['counts in the input of a whole body', { model: 'brand/any', input: { seed: 1 } }],
	])('%s', async (_, anyInput) => {
		const { input, warning } = await requestJson(anyInput, undefined, { prompt: 'He said "hi"\n' });
		expect({ input, warning }).toEqual({ input: { seed: 1, prompt: 'He said "hi"\n' } });
	});

	it.each(['', ' \n', undefined, null])('is all of it where the JSON is %j', async (blank) => {
		const { input, warning } = await requestJson(blank, undefined, { prompt: 'A fox' });
		expect({ input, warning }).toEqual({ input: { prompt: 'A fox' } });
	});

	it('leaves the JSON as it is where it is blank', async () => {
		const { input } = await requestJson({ prompt: 'written' }, undefined, { prompt: ' ' });
		expect(input).toEqual({ prompt: 'written' });
	});

	it('is sent to a model whose document has no prompt, with a warning', async () => {
		const { input, warning } = await requestJson({}, documentOf('seed'), { prompt: 'A fox' });
		expect(input).toEqual({ prompt: 'A fox' });
		expect(warning).toMatch(/^prompt .* is no field of brand\/any/);
	});
});

describe('Input (JSON)', () => {
	it('is blank at first: in a field that has a text, n8n leaves pasted expressions Fixed', () => {
		expect(anyInput).toMatchObject({ default: '' });
		expect(anyInput.required).toBeUndefined();
	});

	it('sends an empty object where all is blank, unless the document requires a field', async () => {
		const { input, check } = await requestJson('', documentOf('prompt'));
		expect(input).toEqual({});
		expect(() => check?.(input)).not.toThrow();
		const properties = { prompt: { type: 'string' } };
		const strict = await requestJson('', buildDocument({ properties, required: ['prompt'] }));
		expect(() => strict.check?.(strict.input)).toThrow("'Prompt' is required");
	});
});

describe("the whole body, as the service's documentation shows it", () => {
	const input = { prompt: 'A fox' };

	it.each<[string, object]>([
		['with model and input', { model: 'brand/any', input }],
		['with blanks around its model', { model: ' brand/any ', input }],
		['with its input as JSON text', { model: 'brand/any', input: JSON.stringify(input) }],
		['with a callback URL', { model: 'brand/any', callBackUrl: 'https://a.example', input }],
	])('%s is taken for its input, of a described model or another', async (_, body) => {
		for (const openapi of [undefined, documentOf('prompt')])
			for (const written of [body, JSON.stringify(body)])
				expect(await requestJson(written, openapi)).toMatchObject({
					model: 'brand/any',
					input,
					warning: undefined,
				});
	});

	it('gives the callback URL on, and none where it has none', async () => {
		const body = { model: 'brand/any', input };
		const { callBackUrl } = await requestJson({ ...body, callBackUrl: 'https://a.example' });
		expect(callBackUrl).toBe('https://a.example');
		expect((await requestJson(body)).callBackUrl).toBeUndefined();
	});

	it.each<[string, Values, string[], RegExp]>([
		['a key of the input', { seed: 1 }, ['prompt', 'seed'], /^seed beside "input" .* wasn't sent/],
		[
			'callbacks in other spellings',
			{ progressCallBackUrl: 'https://a.example', callbackUrl: 'https://b.example' },
			[],
			/^progressCallBackUrl, callbackUrl beside "input" .* weren't sent/,
		],
	])(
		'is sent by its input beside %s, which the warning names',
		async (_, beside, names, warning) => {
			const body = { model: 'brand/any', ...beside, input };
			const request = await requestJson(body, names.length ? documentOf(...names) : undefined);
			expect(request.input).toEqual(input);
			expect(request.callBackUrl).toBeUndefined();
			expect(request.warning).toMatch(warning);
		},
	);

	it("keeps the input's own model, by which families choose their variant", async () => {
		const own = { model: 'large', prompt: 'A fox' };
		const body = { model: 'brand/any', callBackUrl: 'https://a.example', input: own };
		const openapi = documentOf('model', 'prompt');
		const request = await requestJson(body, openapi);
		expect(request).toMatchObject({ input: own, warning: undefined });
		expect((await requestJson(own, openapi)).input).toEqual(own);
	});

	it.each<[string, Values]>([
		['a callback URL', { callBackUrl: 'https://a.example' }],
		['a model that an expression left out', { model: null }],
		['nothing', {}],
	])('without a model is one beside %s', async (_, beside) => {
		for (const openapi of [documentOf('prompt'), undefined])
			for (const written of [input, JSON.stringify(input)]) {
				const request = await requestJson({ ...beside, input: written }, openapi);
				expect(request).toMatchObject({ model: 'brand/any', input });
				expect(request.callBackUrl).toBe(beside.callBackUrl);
			}
	});

	it.each<[string, Values, string[]]>([
		['has no input', { model: 'brand/any', callBackUrl: 'x' }, ['prompt']],
		['has a text as its input', { model: 'large', input: 'A fox' }, []],
		['has a list as its input', { input: [1], callBackUrl: 'x' }, []],
		['has an input, which is a field of the model', { model: 'x', input }, ['input']],
	])('is no body where it %s', async (_, json, names) => {
		const request = await requestJson(json, names.length ? documentOf(...names) : undefined);
		expect(request.input).toEqual(json);
		expect(request.callBackUrl).toBeUndefined();
	});

	it.each<[string, Values, string[]]>([
		['', {}, []],
		[', also beside a strange key', { progressCallBackUrl: 'https://a.example' }, []],
		[', also where its input has a field of this name', {}, ['model', 'prompt']],
	])(
		'of another model than the chosen one is refused, and the error names both%s',
		async (_, beside, names) => {
			const openapi = names.length ? documentOf(...names) : undefined;
			const request = requestJson({ model: 'brand/other', ...beside, input }, openapi);
			await expect(request).rejects.toThrow(
				"The model in 'Input (JSON)' is brand/other, but 'Choose Model' is brand/any",
			);
		},
	);

	it.each([
		[[1], "'input in Input (JSON)' must be a JSON object"],
		['A fox', "'input in Input (JSON)' is not valid JSON"],
		['', "'input in Input (JSON)' is required"],
	])('whose input is %j is refused', async (wrong, message) => {
		const request = requestJson({ model: 'brand/any', input: wrong });
		await expect(request).rejects.toThrow(message);
	});
});

describe('the name of a binary field in JSON', () => {
	const files = ['data', 'my photo'];
	/** Makes the request, and lists the names of the files in it. */
	const readFiles = async (json: object, openapi?: object, more: Values = {}) => {
		const { input } = await requestJson(json, openapi, { files, ...more });
		const found: string[] = [];
		await replaceEach(input, Media, ({ source, label }) => found.push(`${label}: ${source}`));
		return { found, input: JSON.parse(JSON.stringify(input)) as unknown };
	};

	it.each<[where: string, json: object, found: string[]]>([
		['in a field of that form', { image_url: 'data' }, ['Image URL: data']],
		['with blanks inside', { image: 'my photo' }, ['Image: my photo']],
		['in a list', { image_urls: ['data', 'https://b.example'] }, ['Image URLs: data']],
		['in nested objects', { root: { layers: [{ mask: 'data' }] } }, ['Mask: data']],
		['in a whole body', { model: 'brand/any', input: { image: 'data' } }, ['Image: data']],
	])('%s is a file to upload', async (_, json, found) => {
		expect((await readFiles(json)).found).toEqual(found);
	});

	it.each<[what: string, json: object]>([
		['a name that the item lacks', { image_url: 'date' }],
		['a name with blanks around it', { image_url: ' data ' }],
		['the name in a field that takes none', { subject: 'data', prompt: 'data' }],
		['a URL', { image_url: 'https://b.example' }],
		['the name in a list of a field that takes none', { tags: ['data'] }],
		['what is no text', { image_url: 5, images: null, video: { x: true } }],
	])('is not %s, which is sent as it is', async (_, json) => {
		expect(await readFiles(json)).toEqual({ found: [], input: json });
	});

	it('is told from a text by the document', async () => {
		const properties = { image: { enum: ['data'] }, subject: { type: 'string', format: 'uri' } };
		const openapi = buildDocument({ properties });
		const { found } = await readFiles({ image: 'data', subject: 'data' }, openapi);
		expect(found).toEqual(['Subject: data']);
	});

	it('leaves JSON that is nested too deep to be refused', async () => {
		const deep = JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)) as unknown;
		await expect(readFiles({ image: deep })).rejects.toThrow('nested less than 64 levels deep');
	});
});

describe('what is refused before it is paid for', () => {
	it('a value that the model does not take', async () => {
		const values = { prompt: 'x', duration: '7' };
		const message = /must be one of 5, 10, but is "7"/;
		await expect(buildInput(WRITTEN, values)).rejects.toThrow(message);
		await expect(buildInput(WRITTEN, values, {}, NO_FIELDS)).rejects.toThrow(message);
	});

	it.each([
		[{ img: 'a' }, /^img in Input is no field of .*\. Its fields are (?=.*prompt \(required\))/],
		[{ img: 'a', Prompt: 'b' }, /^img, Prompt in Input are no fields of/],
	])('in fields that an AI wrote, names of %j', async (values, message) => {
		await expect(buildRequest(WRITTEN, values, {}, NO_FIELDS)).rejects.toThrow(message);
	});

	it('fields of another model', async () => {
		const anyModel = { __rl: true, mode: 'id', value: 'eta-upscale' };
		const request = buildRequest('epsilon-2/text-to-video', { prompt: 'x' }, { anyModel });
		await expect(request).rejects.toThrow(
			'The fields in Input are those of epsilon-2/text-to-video, but the model is eta-upscale',
		);
	});
});

describe('a hostile description', () => {
	it.each([5, { properties: null, required: {}, oneOf: [5] }, { type: [1], items: 'x' }])(
		'that a workflow stores as %j takes anything',
		async (inputSchema) => {
			const fields = findModel('eta-upscale').fields.map((field) =>
				'inputSchema' in field ? { ...field, inputSchema } : field,
			);
			const values = { prompt: 'x', number: 5 };
			expect(await buildInput('eta-upscale', values, {}, { fields })).toEqual(values);
		},
	);

	it('leaves the fields on when a property has a name like an entry of ours', async () => {
		const properties = { $guide: { type: 'string' }, size: { type: 'integer', maximum: 5 } };
		const build = (size: string, required: string[] = []) => {
			const openapi = buildDocument({ type: 'object', properties, required });
			return buildInput('any', { $guide: 'size', size }, {}, readFields('any', openapi));
		};
		expect(await build('3')).toEqual({ size: 3 });
		await expect(build('6')).rejects.toThrow("'Size' must be at most 5");
		await expect(build('3', ['$guide'])).rejects.toThrow('is required');
	});
});

describe('what a list of choices offers', () => {
	const choice = fc.oneof(
		fc.constantFrom<unknown>(
			'',
			' ',
			'5',
			'auto',
			'true',
			'data',
			'[1]',
			' x',
			'https://a.example',
		),
		fc.constantFrom<unknown>(5, 10, 0.5, -1, 2 ** 53, true, false, null, { image: 'data' }, [1]),
	);
	const type = fc.constantFrom('string', 'integer', 'number', 'boolean', 'array', 'null');
	const { schema } = fc.letrec<{ schema: object; branches: object[] }>((tie) => ({
		branches: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
		schema: fc
			.tuple(
				fc.oneof(
					fc.record({ enum: fc.uniqueArray(choice, { minLength: 1, maxLength: 4 }) }),
					fc.record({ const: choice }),
					fc.constant({ type: 'boolean' }),
				),
				fc.oneof(
					fc.constant({}),
					fc.record({ type }),
					fc.record({ type: fc.uniqueArray(type, { minLength: 1, maxLength: 3 }) }),
				),
				fc.oneof(
					{ weight: 8, arbitrary: fc.constant({}) },
					fc.constant({ maximum: 7, maxLength: 2 }),
					fc.constant({ format: 'uri' }),
					fc.record({ anyOf: tie('branches') }),
					fc.record({ allOf: tie('branches') }),
				),
			)
			.map((parts) => Object.assign({}, ...parts) as object),
	}));
	const names = fc.constantFrom('size', 'image');

	it('can be sent, in a form that the document has', async () => {
		let offered = 0;
		const holds = fc.asyncProperty(names, schema, fc.boolean(), async (name, part, isRequired) => {
			const required = isRequired ? [name] : [];
			const openapi = buildDocument({ properties: { [name]: part }, required });
			const { fields } = readFields('any', openapi);
			const { options = [] } = fields.find(({ id }) => id === name) ?? {};
			const known = readSchema(part, undefined)?.enum ?? [true, false];
			for (const option of options) {
				const value = 'value' in option && option.value;
				const input = await buildInput('any', { [name]: value }, {}, { fields });
				expect(known).toContainEqual((input as Values)[name]);
				offered++;
			}
		});
		await fc.assert(holds, { numRuns: 2_000 });
		expect(offered).toBeGreaterThan(500);
	});

	it.each<[object, unknown[]]>([
		[{ type: 'string', enum: [5, 10] }, [5, 10]],
		[{ type: 'integer', enum: ['5'] }, ['5']],
		[{ type: 'string', enum: ['auto', 5] }, ['auto', 5]],
		[{ type: ['string', 'null'], enum: ['a', null, ''] }, ['a']],
		[{ enum: [5, 10], maximum: 7 }, [5]],
		[{ enum: [2 ** 53, 5, { a: 1 }] }, [5]],
	])('of %j is %j', (part, offered) => {
		const { fields } = readFields('any', buildDocument({ properties: { x: part } }));
		const [{ type, options = [] } = {}] = fields;
		expect(type).toBe('options');
		expect(options.map((option) => 'value' in option && option.value)).toEqual(offered);
	});

	it('is nothing where no value can be chosen', () => {
		const { fields } = readFields(
			'any',
			buildDocument({ properties: { x: { enum: [null, ''] } } }),
		);
		expect(fields[0]).toMatchObject({ id: 'x', type: 'string' });
		expect(fields[0]?.options).toBeUndefined();
	});
});

describe('an independent validator', () => {
	/** Makes of a document what is held to be binding: no formats, any further names, no required list or object, any branch. */
	const soften = (openapi: object) =>
		JSON.parse(JSON.stringify(openapi), (key, part: unknown) => {
			if (/^(pattern|format|multipleOf|additionalProperties|exclusive.*)$/.test(key))
				return undefined;
			if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
			const { oneOf: anyOf, ...rest } = part as Values;
			const schema = { ...rest, ...(anyOf !== undefined && { anyOf }) } as JsonSchema;
			const { properties, required } = schema;
			if (!properties || !Array.isArray(required)) return schema;
			const takesText = (name: string) => !takesJson(readSchema(properties[name], openapi) ?? {});
			return { ...schema, required: required.filter(takesText) };
		}) as object;

	const word = fc.constantFrom('a', 'three words', '5', '1:1', 'https://a.example/1.png', 'data');
	const list = fc.array(word, { maxLength: 5 }).map((words) => words.join(', '));
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
	/** Values that the editor stores for a field of a type, right and wrong ones. */
	const stored: Record<string, fc.Arbitrary<unknown>> = {
		number,
		boolean: fc.boolean(),
		string: fc.oneof({ weight: 3, arbitrary: word }, list, json),
	};
	const anyValue = ({ type, options }: ResourceMapperField) =>
		options
			? fc.constantFrom(...options.map((option) => 'value' in option && option.value))
			: (stored[String(type)] ?? json);

	/** Makes a document for each branch of an input, as if there were no other, or else the document itself. */
	const listBranches = (openapi: object) => {
		const body = TASK_BODY.reduce(getPart, openapi);
		const { oneOf, ...input } = getPart(getPart(body, 'properties'), 'input') as Values;
		if (!Array.isArray(oneOf)) return [openapi];
		return oneOf.map((branch) => buildDocument({ ...input, allOf: [branch] }, openapi));
	};
	const TASK_BODY = [
		'paths',
		TASK_PATH,
		'post',
		'requestBody',
		'content',
		'application/json',
		'schema',
	];

	const branches = modelsWithFields.flatMap(({ openapi, ...model }) =>
		listBranches(openapi).map((branch, index) => ({ ...model, openapi: branch, index })),
	);

	it.each(branches)(
		'agrees on what is sent to $model and what is refused, by branch $index',
		async ({ model, openapi, index, fields }) => {
			const validate = compileBody(`${model}, softened ${index}`, soften(openapi));
			const hasBranches = /"(any|one|all)Of":/.test(JSON.stringify(openapi));
			const ofBranch = readFields(model, openapi).fields.map(({ id }) => id);
			const own = fields.filter(({ id }) => !isOwnEntry(id) && ofBranch.includes(id));
			const entries = own.map((field) => [field.id, anyValue(field)] as const);
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
				// What only one branch asks for is left to the service.
				if (isAccepted && hasBranches) return;
				expect({ sent, isAccepted }).toEqual({
					sent,
					isAccepted: validate({ model, input: sent }),
				});
			});
			await fc.assert(agrees, { numRuns: 60 });
		},
	);
});
