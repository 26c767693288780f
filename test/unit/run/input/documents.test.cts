import fc from 'fast-check';
import { UserError, type ResourceMapperField } from 'n8n-workflow';
import { buildDocument, compileBody } from '../../../../dev/service/catalogue.cts';
import { findStoredSchema } from '../../../../nodes/MediaGeneration/models/any/views';
import { checkInput } from '../../../../nodes/MediaGeneration/models/check';
import {
	FileToSend,
	type ItemFiles,
	type NamedFiles,
} from '../../../../nodes/MediaGeneration/models/values';
import { InputReader } from '../../../../nodes/MediaGeneration/models/inputReader';
import { readSchema } from '../../../../nodes/MediaGeneration/models/readSchema';
import {
	isNodesName,
	takesJson,
	type JsonSchema,
} from '../../../../nodes/MediaGeneration/models/schema';
import { InputFile } from '../../../../nodes/MediaGeneration/run/input/inputFile';
import { modelsWithFields, readFields } from '../../models/any/modelFields.ts';
import { fake } from '../../n8n.ts';
import { PNG, prepare, type Values } from './prepareInput.cts';

/** What the service's documents say, against what is sent: of every model, and of hostile ones. */

const URL_OF_UPLOAD = 'https://files.example/uploaded.png';

/** Makes an input as it is sent, with every file uploaded. */
const upload = (input: unknown) =>
	JSON.parse(
		JSON.stringify(input, (_, part: unknown) =>
			part instanceof FileToSend ? URL_OF_UPLOAD : part,
		),
	) as Values;

describe('what a list of choices offers', () => {
	const choice = fc.constantFrom<unknown>(
		...['', ' ', '5', 'auto', 'true', 'data', '[1]', ' x', 'https://a.example'],
		...[5, 0.5, -1, 2 ** 53, true, false, null, { image: 'data' }, [1]],
	);
	const type = fc.constantFrom('string', 'integer', 'number', 'boolean', 'array', 'null');
	const values = fc.record({ enum: fc.uniqueArray(choice, { minLength: 1, maxLength: 4 }) });
	const types = fc.record({ type: fc.uniqueArray(type, { minLength: 1, maxLength: 3 }) });
	const more = fc.constantFrom({}, { maximum: 7, maxLength: 2 }, { format: 'uri' });
	const single = fc
		.tuple(fc.oneof(values, fc.constant({ type: 'boolean' })), fc.oneof(types, more))
		.map((parts): object => Object.assign({}, ...parts) as object);
	const branches = fc.array(single, { minLength: 2, maxLength: 2 }).map((anyOf) => ({ anyOf }));
	const schema = fc.oneof(single, branches);
	const names = fc.constantFrom('size', 'image');

	it('can be sent, in a form that the document has', async () => {
		let offered = 0;
		const holds = fc.asyncProperty(names, schema, async (name, part) => {
			const openapi = buildDocument({ properties: { [name]: part } });
			const { fields } = readFields('any', openapi);
			const { options = [] } = fields.find(({ id }) => id === name) ?? {};
			const known = readSchema(part, undefined)?.enum ?? [true, false];
			for (const option of options) {
				const value = 'value' in option && option.value;
				const anyFields = {
					mappingMode: 'defineBelow',
					value: { [name]: value },
					schema: fields,
				};
				const parameters = { model: 'any', anyModel: 'any', anyFields };
				const { input } = await prepare({ parameters, files: { data: PNG } });
				expect(known).toContainEqual(upload(input)[name]);
				offered++;
			}
		});
		await fc.assert(holds, { numRuns: 1_000 });
		expect(offered).toBeGreaterThan(500);
	});
});

describe('an independent validator', () => {
	/** Makes of a document what is held to be binding: no formats, any further names, no required list or object, any branch. */
	const soften = (openapi: object) =>
		JSON.parse(JSON.stringify(openapi), (key, part: unknown) => {
			if (/^(pattern|format|multipleOf|additionalProperties|exclusive.*)$/.test(key))
				return undefined;
			if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
			const schema = part as JsonSchema;
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
				: { named: new InputFile(name, {} as never, {} as never), numbered: [] },
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

	/** What only one branch asks for is left to the service. */
	const hasBranches = ({ openapi }: { openapi: object }) =>
		/"(any|one|all)Of":/.test(JSON.stringify(openapi));

	it.each(modelsWithFields.filter((model) => !hasBranches(model)))(
		'agrees on what is sent to $model and what is an error',
		({ model, openapi, fields }) => {
			const validate = compileBody(`${model}, softened`, soften(openapi));
			const own = fields.filter(({ id }) => !isNodesName(id));
			const pairs = own.map((field) => [field.id, anyValue(field)] as const);
			const filledIn = fc.record(Object.fromEntries(pairs), { requiredKeys: [] });
			const schema = readSchema(findStoredSchema(fields)?.inputSchema, undefined) ?? {};
			const agrees = fc.property(filledIn, (values) => {
				const input = new InputReader(schema, anyFiles).read(values);
				let isAccepted = true;
				try {
					checkInput(schema, input);
				} catch (error) {
					expect(error).toBeInstanceOf(UserError);
					isAccepted = false;
				}
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
