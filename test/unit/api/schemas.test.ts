import getCredits from '../../../nodes/MediaGeneration/__schema__/v1.1.0/account/getCredits.json';
import upload from '../../../nodes/MediaGeneration/__schema__/v1.1.0/file/upload.json';
import getFields from '../../../nodes/MediaGeneration/__schema__/v1.1.0/model/getFields.json';
import getMany from '../../../nodes/MediaGeneration/__schema__/v1.1.0/model/getMany.json';
import start from '../../../nodes/MediaGeneration/__schema__/v1.1.0/task/start.json';
import generate from '../../../nodes/MediaGeneration/__schema__/v1.1.0/task/generate.json';
import getFiles from '../../../nodes/MediaGeneration/__schema__/v1.1.0/task/getFiles.json';
import get from '../../../nodes/MediaGeneration/__schema__/v1.1.0/task/get.json';
import verifyCallback from '../../../nodes/MediaGeneration/__schema__/v1.1.0/task/verifyCallback.json';
import wait from '../../../nodes/MediaGeneration/__schema__/v1.1.0/task/wait.json';
import {
	integer,
	modelList,
	number,
	uploadedFile,
} from '../../../nodes/MediaGeneration/api/schemas';
import type { FieldItem } from '../../../nodes/MediaGeneration/models/any/views';
import type { ModelItem } from '../../../nodes/MediaGeneration/operations/model/getMany';
import type { VerdictItem } from '../../../nodes/MediaGeneration/operations/task/verifyCallback';
import { newTask, type REQUEST, type Task } from '../../../nodes/MediaGeneration/api/task';
import type { ResultLink } from '../../../nodes/MediaGeneration/api/resultLinks';

const url = 'https://cdn.example/a.png';

/** A task with all its keys, as the interface has them. */
const whole: Required<Omit<Task, typeof REQUEST | 'warning'>> = {
	taskId: 'task',
	status: 'failed',
	resultUrls: [url],
	model: 'beta2/image-edit',
	state: 'fail',
	result: { resultUrls: [url] },
	failCode: '501',
	failMessage: 'blocked',
	creditsConsumed: 12.5,
	createdAt: '2025-11-20T12:00:00.000Z',
	completedAt: '2025-11-20T12:00:12.000Z',
};

const file: Required<ResultLink> & { index: number } = {
	index: 0,
	kind: 'result',
	url,
	id: 'song-1',
	title: 'Foxes',
	durationSeconds: 2.5,
	coverUrl: url,
};

const downloaded = { ...file, name: 'a.png', mimeType: 'image/png', size: 5 };

const uploaded = uploadedFile.parse({
	downloadUrl: url,
	fileName: 'a.png',
	filePath: 'n8n/a.png',
	fileSize: 5,
	mimeType: 'image/png',
	uploadedAt: '2025-11-20T12:00:00.000Z',
});

const verdict: Required<VerdictItem> = {
	genuine: false,
	reason: 'timestampStale',
	message: 'The callback is too old',
	taskId: 'task',
	signature: 'current',
	clockDifferenceSeconds: -400,
};

const listed: Required<ModelItem> = {
	model: 'epsilon-2/text-to-video',
	title: 'Epsilon 2',
	provider: 'Epsilon',
	type: 'Text to Video',
	price: '8 credits',
	description: 'A video of a text.',
};

const field: Required<FieldItem> = {
	name: 'aspect_ratio',
	title: 'Aspect Ratio',
	type: 'string',
	required: true,
	description: 'The form of the picture.',
	options: ['1:1', '3:2'],
	default: '1:1',
	takesFile: false,
	deprecated: false,
	minimum: 1,
	maximum: 2,
	multipleOf: 1,
	minLength: 1,
	maxLength: 3,
	minItems: 1,
	maxItems: 2,
	summary: 'required; text; 1:1, 3:2; default 1:1',
	forms: 'Prompt; or Image',
};

/** The output schema, as n8n's editor takes it, of what a node outputs. */
function buildSchema(value: unknown): object {
	if (Array.isArray(value)) return { type: 'array', items: buildSchema(value[0]) };
	if (typeof value !== 'object') return { type: typeof value };
	const properties = Object.entries(value as object).map(([key, part]) => [key, buildSchema(part)]);
	return { type: 'object', properties: Object.fromEntries(properties) as object };
}

/** What Generate and Wait output. */
const waited = { ...whole, file: downloaded, downloadError: 'broke off', lookError: 'no answer' };

it.each([
	['account: get credits', getCredits, { credits: 12.5 }],
	[
		'task: start',
		start,
		{ ...newTask('task', 'beta2/image-edit', 'a mistake?'), resultUrls: [url] },
	],
	['task: generate', generate, { ...whole, warning: 'a mistake?', ...waited }],
	['task: wait', wait, waited],
	['task: get', get, { ...whole, file }],
	['task: getFiles', getFiles, { ...whole, file: downloaded }],
	['task: verify callback', verifyCallback, verdict],
	['model: get many', getMany, listed],
	['model: get fields', getFields, field],
	['file: upload', upload, uploaded],
])('%s has the output schema of what it outputs, in its order', (_, schema, output) => {
	expect(schema).toEqual({ ...buildSchema(output), version: 1 });
	expect(Object.keys(schema.properties)).toEqual(Object.keys(output));
});

it.each([
	['501', 501, 501],
	['-7', -7, -7],
	[' 12.25 ', 12.25, undefined],
	['x1', undefined, undefined],
	['1x', undefined, undefined],
	['1.x', undefined, undefined],
	// JSON has numbers that are none here.
	['9'.repeat(400), undefined, undefined],
	[JSON.parse('1e999'), undefined, undefined],
])('%j is read as the number %j and the integer %j', (text, asNumber, asInteger) => {
	expect(number.safeParse(text).data).toBe(asNumber);
	expect(integer.safeParse(text).data).toBe(asInteger);
});

it('an uploaded file has a URL by either name, and is none without it', () => {
	expect(uploadedFile.parse({ fileUrl: url })).toEqual({ url });
	expect(uploadedFile.safeParse({ fileName: 'a.png' }).success).toBe(false);
});

it('a list of models leaves out what names none', () => {
	const models = [{ model: 'a' }, { title: 'nameless' }, null, { model: '' }];
	expect(modelList.parse({ models })).toStrictEqual([{ model: 'a', taskType: [] }]);
});
