import fc from 'fast-check';
import { UserError, type ResourceMapperField } from 'n8n-workflow';
import { buildDocument, compileBody, TASK_PATH } from '../../../../dev/service/catalogue.cts';
import { findStoredSchema } from '../../../../nodes/MediaGeneration/models/any/views';
import { checkInput } from '../../../../nodes/MediaGeneration/models/check';
import { InputReader } from '../../../../nodes/MediaGeneration/models/inputReader';
import { readSchema } from '../../../../nodes/MediaGeneration/models/readSchema';
import {
	getPart,
	isOwnEntry,
	takesJson,
	type JsonSchema,
} from '../../../../nodes/MediaGeneration/models/schema';
import {
	FileToSend,
	type ItemFiles,
	type NamedFiles,
} from '../../../../nodes/MediaGeneration/models/values';
import { InputFile } from '../../../../nodes/MediaGeneration/run/input/inputFile';
import { findModel, modelsWithFields, readFields } from '../../models/any/modelFields.ts';
import { fake } from '../../n8n.ts';
import { PNG, prepare, type Values } from './door.cts';

/** What the service's documents say, against what is sent: of every model, and of hostile ones. */

const URL_OF_UPLOAD = 'https://files.example/uploaded.png';

/** Makes an input as it is sent, with every file uploaded. */
const upload = (input: unknown): unknown => {
	if (input instanceof FileToSend) return URL_OF_UPLOAD;
	if (Array.isArray(input)) return input.map(upload);
	if (typeof input !== 'object' || input === null) return input;
	return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, upload(value)]));
};

/** Makes the input of a workflow that the editor stored, as it is sent. Its item has a file `data`. */
async function buildInput(
	model: string,
	values: Values,
	{ fields }: { fields: ResourceMapperField[] } = findModel(model),
) {
	const anyFields = { mappingMode: 'defineBelow', value: values, schema: fields };
	const parameters = { model: 'any', anyModel: model, anyFields };
	const { input } = await prepare({ parameters, files: { data: PNG } });
	return upload(input) as Values;
}

describe('a hostile description', () => {
	it.each([5, { properties: null, required: {}, oneOf: [5] }, { type: [1], items: 'x' }])(
		'that a workflow stores as %j takes anything',
		async (inputSchema) => {
			const fields = findModel('eta-upscale').fields.map((field) =>
				'inputSchema' in field ? { ...field, inputSchema } : field,
			);
			const values = { prompt: 'x', number: 5 };
			expect(await buildInput('eta-upscale', values, { fields })).toEqual(values);
		},
	);

	it('leaves the fields on when a property has a name like an entry of ours', async () => {
		const properties = { $guide: { type: 'string' }, size: { type: 'integer', maximum: 5 } };
		const build = (size: string, required: string[] = []) => {
			const openapi = buildDocument({ type: 'object', properties, required });
			return buildInput('any', { $guide: 'size', size }, readFields('any', openapi));
		};
		expect(await build('3')).toEqual({ size: 3 });
		await expect(build('6')).rejects.toThrow("'Size' must be a whole number of at most 5");
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
				const input = await buildInput('any', { [name]: value }, { fields });
				expect(known).toContainEqual(input[name]);
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

	/** An item that has a file of each name. */
	const anyFiles = fake<ItemFiles>({
		find: (name: string): NamedFiles =>
			/^https\S+$/.test(name)
				? { numbered: [] }
				: { exact: new InputFile(name, {} as never), numbered: [] },
		nameOf: () => undefined,
	});

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
		({ model, openapi, index, fields }) => {
			const validate = compileBody(`${model}, softened ${index}`, soften(openapi));
			const hasBranches = /"(any|one|all)Of":/.test(JSON.stringify(openapi));
			const ofBranch = readFields(model, openapi).fields.map(({ id }) => id);
			const own = fields.filter(({ id }) => !isOwnEntry(id) && ofBranch.includes(id));
			const entries = own.map((field) => [field.id, anyValue(field)] as const);
			const filledIn = fc.record(Object.fromEntries(entries), { requiredKeys: [] });
			const schema = readSchema(findStoredSchema(fields)?.inputSchema, undefined) ?? {};
			const agrees = fc.property(filledIn, (values) => {
				const input = new InputReader(schema, anyFiles, 'fields').read(values);
				let isAccepted = true;
				try {
					checkInput(schema, input);
				} catch (error) {
					expect(error).toBeInstanceOf(UserError);
					isAccepted = false;
				}
				// What only one branch asks for is left to the service.
				if (isAccepted && hasBranches) return;
				const sent = upload(input);
				expect({ sent, isAccepted }).toEqual({
					sent,
					isAccepted: validate({ model, input: sent }),
				});
			});
			fc.assert(agrees, { numRuns: 60 });
		},
	);
});
