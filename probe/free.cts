import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { TaskService } from '../nodes/MediaGeneration/api/client.ts';
import { UnknownOutcomeError } from '../nodes/MediaGeneration/api/errors.ts';
import { listFields } from '../nodes/MediaGeneration/models/any/schemaFields.ts';
import {
	askFor,
	Difference,
	expectRefusal,
	expectUnlessAbsent,
	type Question,
	type Row,
} from './rows.cts';

export const SETTINGS = { timeoutSeconds: 60 };

/** A PNG of one pixel. */
const PIXEL = Buffer.from(
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
	'base64',
);

export interface FreeOptions {
	/** The same service, with a token that is wrong. */
	stranger: TaskService;
	/** The pause before each look-up, in milliseconds. */
	lookupPause: number;
	/** The model whose schema is read; by default the first of the list. */
	model?: string;
}

/** Asks all that costs nothing. */
export async function askForFree(service: TaskService, options: FreeOptions): Promise<Row[]> {
	const rows: Row[] = [];
	for (const question of listAccountQuestions(service, options.stranger))
		rows.push(await askFor(question));
	const link = { url: '' };
	for (const question of listUploadQuestions(service, link)) rows.push(await askFor(question));
	for (const question of listLookups(service, options.model, link)) {
		await pause(options.lookupPause);
		rows.push(await askFor(question));
	}
	return rows;
}

const listAccountQuestions = (service: TaskService, stranger: TaskService): Question[] => [
	{
		asked: 'Credits',
		expected: 'code 200, and a number in data',
		consequence: "Get Credits, the limit of credits and the credential's test end with an error.",
		ask: async () => `${await service.getCredits(SETTINGS)} credits`,
	},
	{
		asked: 'Credits, wrong token',
		expected: 'code 401 in the body, or HTTP 401',
		consequence: 'A wrong token is not called one, and a run with many items does not end at once.',
		ask: async () => await expectRefusal([401], async () => await stranger.getCredits(SETTINGS)),
	},
	{
		asked: 'Create Task, wrong token',
		expected: 'code 401, which shows that certainly nothing was created',
		consequence: 'A refused creation counts as one of unknown outcome, or the path is wrong.',
		ask: async () =>
			await expectRefusal([401], async () => {
				const request = stranger.createTask({ model: '', input: {} }, SETTINGS);
				return await request.catch((error: unknown) => {
					throw error instanceof UnknownOutcomeError ? new Difference(error.message) : error;
				});
			}),
	},
	{
		asked: 'Task Details, unknown ID',
		expected: 'code 404 or 422 in the envelope',
		consequence: 'A callback for an unknown task is sent again. Get names another reason.',
		ask: async () =>
			await expectRefusal([404, 422], async () => {
				return await service.getTask(randomUUID().replaceAll('-', ''), SETTINGS);
			}),
	},
];

/** @param link gets that of the uploaded file */
function listUploadQuestions(service: TaskService, link: { url: string }): Question[] {
	const fileName = `n8n-probe-${randomUUID()}.png`;
	const expected = 'a link in data.downloadUrl or data.fileUrl, that needs no token';
	return [
		{
			asked: 'Stream Upload',
			expected,
			consequence: 'Binary fields and Upload end with an error, or their links lead nowhere.',
			ask: async () => {
				const file = { size: PIXEL.length, mimeType: 'image/png', chunks: [PIXEL] };
				const { url } = await service.upload(fileName, file, SETTINGS);
				await expectPixel(url);
				link.url = url;
				return 'a link to the file';
			},
		},
		{
			asked: 'URL Upload',
			expected,
			consequence: 'Upload from a URL ends with an error, or its link leads nowhere.',
			ask: async () => {
				const copy = await service.uploadFromUrl(`copy-${fileName}`, needLink(link), SETTINGS);
				return await expectPixel(copy.url);
			},
		},
	];
}

function listLookups(service: TaskService, model = '', link: { url: string }): Question[] {
	let first = model;
	return [
		{
			asked: 'Models',
			expected: 'a list in data.models or data, each entry with its name in model',
			consequence: 'The list of models is empty: models are typed in By ID.',
			ask: async () =>
				await expectUnlessAbsent(async () => {
					const models = await service.listModels(SETTINGS);
					first ||= models[0]?.model ?? '';
					if (!first) throw new Difference('no entry can be read');
					return `${models.length} models`;
				}),
		},
		{
			asked: 'Model Schema',
			expected: 'an OpenAPI document, or null, in data.openapi, whose fields can be read',
			consequence: "The fields of Any Model don't show up: its input is given as JSON.",
			ask: async () =>
				await expectUnlessAbsent(async () => {
					if (!first) throw new Difference('no model is known', 'not tried');
					const document = await service.getModelSchema(first, SETTINGS);
					if (document === null) return `${first} has no schema yet`;
					const fields = listFields(first, document);
					if (typeof fields === 'string') throw new Difference(fields);
					return `${first}: ${fields.length} fields`;
				}),
		},
		{
			asked: 'Model Schema, unknown model',
			expected: 'code 404',
			consequence: 'A model that does not exist is reported with another reason.',
			ask: async () =>
				await expectRefusal([404], async () => service.getModelSchema('no/such-model', SETTINGS)),
		},
		{
			asked: 'Download URL',
			expected: 'a link as the text in data, that needs no token',
			consequence: 'Get Files does not renew links that have expired.',
			ask: async () =>
				await expectUnlessAbsent(
					async () => await expectPixel(await service.getDownloadUrl(needLink(link), SETTINGS)),
				),
		},
	];
}

function needLink({ url }: { url: string }) {
	if (!url) throw new Difference('no file was uploaded', 'not tried');
	return url;
}

/** Fetches a file as the package does: without the token. */
export async function fetchFile(url: string): Promise<Buffer> {
	const response = await fetch(url, { signal: AbortSignal.timeout(60_000) }).catch(
		(error: Error) => {
			throw new Difference(`the link can't be fetched: ${error.message}`);
		},
	);
	if (!response.ok) throw new Difference(`the link is answered with HTTP ${response.status}`);
	return Buffer.from(await response.arrayBuffer());
}

async function expectPixel(url: string) {
	if (!(await fetchFile(url)).equals(PIXEL)) throw new Difference('the link leads to another file');
	return 'a link to the file';
}
