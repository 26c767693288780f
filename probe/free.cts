import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
	ENDPOINTS,
	type Credentials,
	type Endpoint,
} from '../nodes/MediaGeneration/api/endpoints.ts';
import { UnknownOutcomeError } from '../nodes/MediaGeneration/api/errors.ts';
import { isObject } from '../nodes/MediaGeneration/lib/json.ts';
import { listFields } from '../nodes/MediaGeneration/models/any/schemaFields.ts';
import { createClient, type Client } from './client.cts';
import {
	ask,
	Difference,
	expectRefusal,
	expectUnlessAbsent,
	listIgnored,
	readData,
	SETTINGS,
	toIgnoredRows,
	type Question,
} from './questions.cts';
import type { Recording } from './recording.cts';
import type { Row } from './report.cts';

/** A PNG of one pixel. */
const PIXEL = Buffer.from(
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
	'base64',
);

const name = (endpoint: Endpoint, what = '') =>
	`${ENDPOINTS[endpoint].displayName.replace(' Path', '')}${what}`;

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
}

export interface FreeOptions {
	/** The pause before each look-up, in milliseconds. Services allow one a second. */
	lookupPause: number;
	/** The model whose schema is read; by default the first of the list. */
	model?: string;
}

/** Asks all that costs nothing. */
export async function askForFree(
	credentials: Credentials,
	client: Client,
	recording: Recording,
	{ lookupPause, model }: FreeOptions,
): Promise<Row[]> {
	const { service } = client;
	const stranger = createClient({ ...credentials, accessToken: `wrong-${randomUUID()}` });
	const rows: Row[] = [];
	const add = async (question: Question, asking = client) =>
		void rows.push(...(await ask(asking, question, recording)));
	/** The link of the file that was uploaded. */
	let link: string | undefined;

	await add({
		asked: name('creditsPath'),
		expected: 'code 200, and a number in data',
		consequence:
			"Get Credits, the limit of credits in Options and the credential's test end with an error.",
		record: 'credits',
		ask: async () => `${await service.getCredits(SETTINGS)} credits`,
	});
	await add(
		{
			asked: name('creditsPath', ', wrong token'),
			expected: 'code 401 in the body, or HTTP 401',
			consequence:
				'A wrong token is not called one: the test of the credential passes or names another reason, and a run with many items does not end at once.',
			record: 'wrongToken',
			ask: async () =>
				await expectRefusal([401], async () => await stranger.service.getCredits(SETTINGS)),
		},
		stranger,
	);
	await add(
		{
			asked: name('createTaskPath', ', wrong token'),
			expected: 'code 401, which shows that certainly nothing was created',
			consequence:
				'A creation that the service refuses counts as one of unknown outcome, or the path is wrong: then no task can be created.',
			record: 'refusedCreation',
			ask: async () =>
				await expectRefusal([401], async () => {
					const nothing = { model: '', input: {} };
					return await stranger.service.createTask(nothing, SETTINGS).catch((error: unknown) => {
						if (error instanceof UnknownOutcomeError) throw new Difference(error.message);
						throw error;
					});
				}),
		},
		stranger,
	);
	const unknownTask = randomUUID().replaceAll('-', '');
	recording.replace(unknownTask, '{taskId}');
	await add({
		asked: name('taskDetailsPath', ', unknown ID'),
		expected: 'code 404 or 422 in the envelope',
		consequence:
			'A callback for a task that the service does not know is answered 503 in place of 404, and is sent again. Get names another reason.',
		record: 'unknownTask',
		ask: async () =>
			await expectRefusal([404, 422], async () => await service.getTask(unknownTask, SETTINGS)),
	});

	const fileName = `n8n-probe-${randomUUID()}.png`;
	const consequence = 'Binary fields and Upload end with an error, or their links lead nowhere.';
	const expected = 'a link in data.downloadUrl or data.fileUrl, that needs no token';
	await add({
		asked: name('streamUploadPath'),
		expected,
		consequence,
		ask: async () => {
			const file = { size: PIXEL.length, mimeType: 'image/png', chunks: [PIXEL] };
			const uploaded = await service.upload(fileName, file, SETTINGS);
			recording.replace(uploaded.url, '{link}');
			if (client.last) recording.add('streamUpload', client.last);
			rows.push(
				...toIgnoredRows(name('streamUploadPath'), listIgnored(readData(client), uploaded)),
			);
			await expectPixel(uploaded.url);
			link = uploaded.url;
			return 'a link to the file';
		},
	});
	await add({
		asked: name('urlUploadPath'),
		expected,
		consequence: 'Upload from a URL ends with an error, or its link leads nowhere.',
		ask: async () => {
			if (!link) throw new Difference('there is no link to upload from', 'not tried');
			const { url } = await service.uploadFromUrl(`copy-${fileName}`, link, SETTINGS);
			recording.replace(url, '{link}');
			if (client.last) recording.add('urlUpload', client.last);
			await expectPixel(url);
			return 'a link to the file';
		},
	});

	let first = model;
	await pause(lookupPause);
	await add({
		asked: name('modelsPath'),
		expected: 'a list in data.models or data, each entry with its name in model',
		consequence: "The list of models lacks entries, or is empty: models are typed in 'By ID'.",
		record: 'models',
		ask: async () =>
			await expectUnlessAbsent(async () => {
				const models = await service.listModels(SETTINGS);
				first ??= models[0]?.model;
				const data = readData(client);
				const sent: unknown = isObject(data) ? data.models : data;
				const entries = Array.isArray(sent) ? sent : [];
				if (models.length < entries.length || !models.length)
					throw new Difference(`${models.length} of ${entries.length} entries can be read`);
				const ignored = models.flatMap((one, index) => listIgnored(entries[index], one));
				rows.push(...toIgnoredRows(name('modelsPath'), ignored.slice(0, 5)));
				return `${models.length} models`;
			}),
	});
	await pause(lookupPause);
	const reading = first;
	await add({
		asked: name('modelSchemaPath'),
		expected: 'an OpenAPI document, or null, in data.openapi, whose fields can be read',
		consequence: "The fields of Any Model don't show up: its input is given as JSON.",
		record: 'modelSchema',
		request: { model: reading },
		ask: async () =>
			await expectUnlessAbsent(async () => {
				if (!reading) throw new Difference('no model is known', 'not tried');
				const document = await service.getModelSchema(reading, SETTINGS);
				if (document === null) return `${reading} has no schema yet`;
				const fields = listFields(reading, document);
				if (typeof fields === 'string') throw new Difference(fields);
				return `${reading}: ${fields.length} fields`;
			}),
	});
	await pause(lookupPause);
	await add({
		asked: name('modelSchemaPath', ', unknown model'),
		expected: 'code 404',
		consequence: 'A model that does not exist is reported with another reason.',
		record: 'unknownModel',
		ask: async () =>
			await expectRefusal(
				[404],
				async () => await service.getModelSchema('no/such-model', SETTINGS),
			),
	});
	await pause(lookupPause);
	await add({
		asked: name('downloadUrlPath'),
		expected: 'a link as the text in data, that needs no token',
		consequence: 'Get Files does not renew links that have expired.',
		ask: async () => {
			if (!link) throw new Difference('there is no link to renew', 'not tried');
			const old = link;
			return await expectUnlessAbsent(async () => {
				const fresh = await service.getDownloadUrl(old, SETTINGS);
				recording.replace(fresh, '{link}');
				if (client.last) recording.add('downloadUrl', client.last);
				await expectPixel(fresh);
				return 'a link to the file';
			});
		},
	});
	return rows;
}
