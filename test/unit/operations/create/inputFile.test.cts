import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import type { TaskService } from '../../../../nodes/MediaGeneration/api/client';
import type { UploadFile } from '../../../../nodes/MediaGeneration/api/multipart';
import { Media } from '../../../../nodes/MediaGeneration/models/media';
import {
	findFiles,
	InputFile,
} from '../../../../nodes/MediaGeneration/operations/create/inputFile';
import type { Item } from '../../../../nodes/MediaGeneration/operations/operation';
import { readMedia } from '../../../media/corpus.cts';

describe('an input file', () => {
	/** Uploads a file of n8n's, and shows what the service was given. */
	async function upload(fileName: string, chunks: Uint8Array[]) {
		let opened = 0;
		let given: { name: string; mimeType: string } | undefined;
		const service = {
			async upload(name: string, { mimeType, chunks: streamed }: UploadFile) {
				given = { name, mimeType };
				for await (const chunk of streamed) void chunk;
				return { url: 'https://up.example/x' };
			},
		} as unknown as TaskService;
		const size = chunks.reduce((sum, { length }) => sum + length, 0);
		const stored = { fileName, mimeType: 'text/csv', fileExtension: 'csv' };
		const file = new InputFile('photo', stored, size, async () => {
			opened++;
			return chunks;
		});
		const facts = await file.inspect();
		for (const item of [0, 1])
			await file.upload({ index: item, service, settings: { timeoutSeconds: 1 } } as Item);
		return { given, facts, opened };
	}

	it.each([
		['by what the content is', readMedia('plain.png'), 'image/png', /^photo-.*\.png$/],
		['as n8n has them where the content tells nothing', Buffer.from([0, 1]), 'text/csv', /\.csv$/],
		['as n8n has them where it is no media', readMedia('document.pdf'), 'text/csv', /\.csv$/],
	])('gives type and extension %s', async (_, content, mimeType, name) => {
		const { given } = await upload('photo.bin', [content]);
		expect(given).toEqual({ mimeType, name: expect.stringMatching(name) as string });
	});

	it('is opened once for its facts, and once for its upload, wherever it is used', async () => {
		const { facts, opened } = await upload('photo.bin', [readMedia('plain.png')]);
		expect({ format: facts?.format, opened }).toEqual({ format: 'png', opened: 2 });
	});
});

const PUBLIC = 'https://service.example.com';
const LIMITS = { formats: ['png' as const], maxBytes: 100 };

/** Checks the URL of a file. @returns the requests that were sent for it */
async function check(url: string, baseUrl = PUBLIC, headers: object = {}, checkUrls = true) {
	const requests: IHttpRequestOptions[] = [];
	const httpRequest = async (request: IHttpRequestOptions) => {
		requests.push(request);
		return { headers };
	};
	const item = {
		context: { helpers: { httpRequest } } as unknown as IExecuteFunctions,
		service: { credentials: { baseUrl } } as unknown as TaskService,
		option: (name: string) => (name === 'checkUrls' ? checkUrls : undefined),
	} as Item;
	expect(await findFiles(item, { image_url: new Media(url, LIMITS) })).toEqual({ image_url: url });
	return requests;
}

const image = 'https://media.example.com/a.png';

it('asks the host of a URL once, and follows no redirect: that may lead inside', async () => {
	expect(await check(image)).toMatchObject([
		{ url: image, method: 'HEAD', disableFollowRedirect: true },
	]);
});

it.each([
	['a public service is given a URL inside this network', 'http://10.0.0.5/a.png', PUBLIC, true, 0],
	['a service inside is given one', 'http://10.0.0.5/a.png', 'http://10.0.0.1', true, 1],
	['the option is off', image, PUBLIC, false, 0],
])('where %s, asks %#', async (_, url, baseUrl, checkUrls, count) => {
	expect(await check(url, baseUrl, {}, checkUrls)).toHaveLength(count);
});

it.each([
	[{ 'content-length': '101' }, 'MB'],
	[{ 'content-type': 'image/gif; a=b' }, 'GIF'],
])('refuses a file whose host says %j', async (headers, why) => {
	await expect(check(image, PUBLIC, headers)).rejects.toThrow(why);
});
