import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import type { TaskService } from '../../../../nodes/MediaGeneration/api/client';
import { Media } from '../../../../nodes/MediaGeneration/models/media';
import { findFiles } from '../../../../nodes/MediaGeneration/operations/create/checkFiles';
import type { Item } from '../../../../nodes/MediaGeneration/operations/operation';

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
