import { type OperationRow, operations } from '../../../dev/fixtures/operations.cts';
import {
	ANSWERS,
	callbackBody,
	integerSchema,
	numberSchema,
} from '../../../nodes/MediaGeneration/api/answers';
import type { listFieldItems } from '../../../nodes/MediaGeneration/models/any/views';
import type { describeModel } from '../../../nodes/MediaGeneration/operations/getMany';
import type { REQUEST, ResultLink, Task } from '../../../nodes/MediaGeneration/api/task';

const url = 'https://cdn.example/a.png';

type WholeTask = Required<Omit<Task, typeof REQUEST | 'downloadError' | 'lookError'>>;

/** Output whose keys TypeScript knows. Each is in its sample, or this is no valid program. */
interface Known {
	generate: WholeTask & { file: Required<ResultLink> };
	get: Omit<WholeTask, 'warning'> & { file: Required<ResultLink> };
	getFields: { [Key in keyof ReturnType<typeof listFieldItems>[number]]-?: unknown };
	getMany: Required<ReturnType<typeof describeModel>>;
}
const rows: { [Name in keyof Known]: { output: Known[Name] } } & Record<string, OperationRow> =
	operations;

/** The output schema, as n8n's editor takes it, of what a node outputs. */
function buildSchema(value: unknown): object {
	if (Array.isArray(value)) return { type: 'array', items: buildSchema(value[0]) };
	if (typeof value !== 'object') return { type: typeof value };
	const properties = Object.entries(value as object).map(([key, part]) => [
		key,
		// Each model has a result of its own form.
		key === 'result' ? { type: 'object' } : buildSchema(part),
	]);
	return { type: 'object', properties: Object.fromEntries(properties) as object };
}

/**
 * What n8n doesn't show before the first run: only with One per File do items have a file, and of an
 * uploaded file, only the URL is sure.
 */
const UNSURE = ['file', 'fileName', 'filePath', 'fileSize', 'mimeType', 'uploadedAt'];

it.each(Object.entries<OperationRow>(rows))(
	'%s has the output schema of its sample, in its order',
	async (name, row) => {
		const folder = '../../../nodes/MediaGeneration/__schema__/v1.1.0';
		const file = (await import(`${folder}/${row.resource}/${name}.json`)) as { default: object };
		const schema = file.default as { properties: object };
		const shown = Object.entries(row.output).filter(([key]) => !UNSURE.includes(key));
		expect(schema).toEqual({ ...buildSchema(Object.fromEntries(shown)), version: 1 });
		expect(Object.keys(schema.properties)).toEqual(shown.map(([key]) => key));
	},
);

it.each([
	['-7', -7, -7],
	[' 12.25 ', 12.25, undefined],
	['1x', undefined, undefined],
	// JSON has numbers that are none here.
	[JSON.parse('1e999'), undefined, undefined],
])('%j is read as the number %j and the integer %j', (text, asNumber, asInteger) => {
	expect(numberSchema.safeParse(text).data).toBe(asNumber);
	expect(integerSchema.safeParse(text).data).toBe(asInteger);
});

it('an uploaded file has a URL by either name, and is none without it', () => {
	expect(ANSWERS.urlUploadPath.parse({ fileUrl: url })).toEqual({ url });
	expect(ANSWERS.urlUploadPath.safeParse({ fileName: 'a.png' }).success).toBe(false);
});

it('a callback may have no more than data', () => {
	const body = { data: { task_id: 'task' } };
	expect(callbackBody.parse(body)).toEqual(body);
});

it('a list of models leaves out what names none', () => {
	const models = [{ model: 'a' }, null, { model: '' }];
	expect(ANSWERS.modelsPath.parse({ models })).toStrictEqual([{ model: 'a', taskType: [] }]);
});
