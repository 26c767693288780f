import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { TaskService } from '../nodes/MediaGeneration/api/client.ts';
import {
	isNotFound,
	isUnknownTask,
	type ServiceError,
} from '../nodes/MediaGeneration/api/failure.ts';
import { findInput } from '../nodes/MediaGeneration/models/any/schema.ts';
import { createRows, Difference, expectRefusal, expectUnlessAbsent, type Add } from './rows.cts';

export const SETTINGS = { timeoutSeconds: 60 };

/** A PNG of one pixel. */
const PIXEL = Buffer.from(
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
	'base64',
);

const isOfToken = ({ kind }: ServiceError): boolean => kind === 'token';

export interface FreeOptions {
	/** The same service, with a token that is wrong. */
	stranger: TaskService;
	/** The pause before each look-up, in milliseconds. */
	lookupPause: number;
	/** The model whose schema is read; by default the first of the list. */
	model?: string;
}

/** Asks all that costs nothing. */
export async function askForFree(service: TaskService, options: FreeOptions) {
	const { rows, add } = createRows();
	await askBasics(add, service, options.stranger);
	const link = await askUploads(add, service);
	await askLookups(add, service, link, options);
	return rows;
}

async function askBasics(add: Add, service: TaskService, stranger: TaskService) {
	await add('Credits', 'code 200 and a number in data, for Get Credits', async () => {
		return `${await service.getCredits(SETTINGS)} credits`;
	});
	await add('Credits, wrong token', 'code 401 in the body or HTTP 401', async () => {
		return await expectRefusal(isOfToken, stranger.getCredits(SETTINGS));
	});
	await add('Create Task, wrong token', 'code 401: certainly nothing was created', async () => {
		const request = stranger.createTask({ model: '', input: {} }, SETTINGS);
		return await expectRefusal(isOfToken, request);
	});
	await add('Task Details, unknown ID', 'code 404 or 422 in the envelope', async () => {
		return await expectRefusal(isUnknownTask, service.getTask(randomUUID(), SETTINGS));
	});
}

/** @returns the link of the uploaded file */
async function askUploads(add: Add, service: TaskService) {
	const fileName = `n8n-probe-${randomUUID()}.png`;
	const needed = 'a link in data.downloadUrl or data.fileUrl that needs no token';
	let link = '';
	await add('Stream Upload', needed, async () => {
		const file = { size: PIXEL.length, mimeType: 'image/png', chunks: [PIXEL] };
		({ url: link } = await service.upload(fileName, file, SETTINGS));
		return await expectPixel(link);
	});
	await add('URL Upload', needed, async () => {
		const { url } = await service.uploadFromUrl(`copy-${fileName}`, link, SETTINGS);
		return await expectPixel(url);
	});
	return link;
}

async function askLookups(add: Add, service: TaskService, link: string, options: FreeOptions) {
	let { model } = options;
	const look: Add = async (...question) => {
		await pause(options.lookupPause);
		await add(...question);
	};
	await look('Models', 'a list in data.models or data, each with its name in model', async () => {
		const models = await expectUnlessAbsent(service.listModels(SETTINGS));
		model ??= models[0]?.model;
		if (!models.length) throw new Difference('no entry can be read');
		return `${models.length} models`;
	});
	await look('Model Schema', 'an OpenAPI document, or null, in data.openapi', async () => {
		if (!model) throw new Difference('no model is known', 'not tried');
		const document = await expectUnlessAbsent(service.getModelSchema(model, SETTINGS));
		if (document === null) return `${model}: 0 fields`;
		const found = findInput(model, document);
		if ('reason' in found) throw new Difference(found.reason);
		return `${model}: ${found.input.properties.length} fields`;
	});
	await look('Model Schema, unknown model', 'code 404', async () => {
		return await expectRefusal(isNotFound, service.getModelSchema('no/such-model', SETTINGS));
	});
	await look('Download URL', 'a link as the text in data that needs no token', async () => {
		const request = service.getDownloadUrl(link, SETTINGS);
		return await expectPixel(await expectUnlessAbsent(request));
	});
}

/** Fetches a file as the package does: without the token. */
export async function fetchFile(url: string): Promise<Buffer> {
	const response = await fetch(url, { signal: AbortSignal.timeout(60_000) }).catch(String);
	if (typeof response === 'string') throw new Difference(`the link can't be fetched: ${response}`);
	if (!response.ok) throw new Difference(`the link is answered with HTTP ${response.status}`);
	return Buffer.from(await response.arrayBuffer());
}

async function expectPixel(url: string) {
	if (!(await fetchFile(url)).equals(PIXEL)) throw new Difference('the link leads to another file');
	return 'a link to the file';
}
