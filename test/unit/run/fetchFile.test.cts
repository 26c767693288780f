import { sleep } from 'n8n-workflow';
import { fetchFile, type DownloadSetup } from '../../../nodes/MediaGeneration/run/files/fetchFile';
import { buildFileHelpers, type Served } from './fileHost.cts';

const url = 'https://cdn.example/a/result.mp4';
const chunks = ['one', 'two'].map((text) => Buffer.from(text));
const ok: Served = { headers: { 'content-type': 'video/mp4' }, chunks };

const redirecting = (location: string, statusCode = 302): Served => ({
	statusCode,
	headers: { location },
});

async function* breakOff() {
	yield* chunks;
	throw new Error('aborted');
}

/** Fetches a file from hosts that serve these answers, by URL. A host that has none can't be reached. */
async function fetchFrom(
	hosts: Record<string, Served | Error | Promise<Served> | (() => Promise<Served>)>,
	{
		from = url,
		maxBytes = Infinity,
		timeoutSeconds = 60,
		baseUrl = 'https://api.example.com',
		storageError = undefined as Error | undefined,
	} = {},
) {
	const { helpers, asked, bodies } = buildFileHelpers((request) => {
		const served = hosts[request.url];
		if (!served) throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
		if (served instanceof Error) throw served;
		return typeof served === 'function' ? served() : served;
	});
	if (storageError) helpers.prepareBinaryData = async () => await Promise.reject(storageError);
	const getService = async () => ({ credentials: { baseUrl } });
	const call = { context: { helpers } };
	const setup = { call, getService, settings: { timeoutSeconds } };
	const file = await fetchFile(setup as unknown as DownloadSetup, {
		url: from,
		label: 'task-result-1',
		name: 'a-red-fox',
		maxBytes,
	});
	return { file, asked, bodies };
}

it('stores a file as it streams, with name, type and size', async () => {
	const { file } = await fetchFrom({ [url]: ok });
	const [name, mimeType] = ['a-red-fox.mp4', 'video/mp4'];
	const binary = { data: 'onetwo', fileName: name, mimeType };
	expect(file).toEqual({ url, name, mimeType, size: 6, binary });
});

it('follows five redirects, relative ones too, and closes each answer', async () => {
	const to = (path: string | number) => `https://eu.cdn.example/${path}`;
	const { file, bodies } = await fetchFrom({
		[url]: redirecting(to(1)),
		[to(1)]: redirecting('/2', 307),
		[to(2)]: redirecting('/3'),
		[to(3)]: redirecting('/4'),
		[to(4)]: redirecting('/5.mp4'),
		[to('5.mp4')]: ok,
	});
	expect(file?.size).toBe(6);
	expect(bodies.every(({ destroyed }) => destroyed)).toBe(true);
});

it('follows neither a redirect nor a link from the internet into this network', async () => {
	const location = 'http://127.0.0.1:5678/rest/settings';
	const hosts = { [url]: redirecting(location), [location]: ok };
	const message =
		'Could not download task-result-1: its host 127.0.0.1:5678 is inside this network';
	await expect(fetchFrom(hosts)).rejects.toThrow(message);
	await expect(fetchFrom(hosts, { from: location })).rejects.toThrow(message);
});

it('follows links and redirects inside a network where the service is, and no way back into it', async () => {
	const inside = 'http://127.0.0.1:8788/a.mp4';
	const location = 'http://10.0.0.1:8789/b.mp4';
	const baseUrl = ' http://localhost:8787 ';
	const hosts = { [inside]: redirecting(location), [location]: ok };
	expect((await fetchFrom(hosts, { from: inside, baseUrl })).file?.size).toBe(6);
	const back = fetchFrom({ [url]: redirecting(inside), [inside]: ok }, { baseUrl });
	await expect(back).rejects.toThrow('inside this');
});

it("says what n8n's storage did, with what to do, and does not blame the host", async () => {
	const storageError = new Error('ENOSPC: no space left on device, write');
	await expect(fetchFrom({ [url]: ok }, { storageError })).rejects.toMatchObject({
		message: `Could not download task-result-1: n8n can't store it: ${storageError.message}`,
		description: expect.stringContaining('the room and the limits') as string,
	});
});

it('sends no secret, and follows no redirect by itself', async () => {
	const { asked } = await fetchFrom({ [url]: ok });
	expect(asked).toEqual([
		{
			url,
			headers: {
				'Accept-Encoding': 'identity',
				'User-Agent': expect.stringContaining('n8n-nodes-media-generation') as string,
			},
			disableFollowRedirect: true,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			encoding: 'stream',
			timeout: 60_000,
			abortSignal: expect.any(AbortSignal) as object,
		},
	]);
});

it.each<[string, Served | undefined, string, boolean]>([
	['answers 404', { statusCode: 404 }, 'its host cdn.example answered 404', true],
	['answers 500', redirecting(url, 500), 'its host cdn.example answered 500', true],
	['is not there', undefined, "its host cdn.example can't be reached (ECONNREFUSED)", true],
	['sends no bytes', { chunks: [Buffer.alloc(0)] }, 'its host cdn.example sent no bytes', true],
	['breaks off', { chunks: breakOff() }, 'broke off before the file was complete', true],
	['sends too much', { chunks: [Buffer.alloc(100)] }, "'Maximum File Size' in", false],
	['redirects without end', redirecting(url), 'more than 5 times', false],
	[
		'redirects to a file',
		redirecting('file:///etc/passwd'),
		'leads to what is not a web address',
		false,
	],
	['redirects nowhere', redirecting('http://['), 'leads to what is not a web address', false],
	['redirects into this network', redirecting('http://127.0.0.1/'), 'inside this', false],
])(
	'says what a host did that %s, and whether to ask again',
	async (_, served, message, isTemporary) => {
		await expect(
			fetchFrom(served ? { [url]: served } : {}, { maxBytes: 99 }),
		).rejects.toMatchObject({
			message: expect.stringContaining(message) as string,
			isTemporary,
		});
	},
);

describe('a host that takes its time', () => {
	beforeEach(() => void jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	const NEVER = 100_000;

	/** Pauses this many seconds before it sends this many bytes, again and again. */
	type Pace = [seconds: number, bytes: number, times: number];

	async function* send(paces: Pace[]) {
		for (const [seconds, bytes, times] of paces)
			for (let count = 0; count < times; count++) {
				await sleep(seconds * 1000);
				yield Buffer.alloc(bytes);
			}
	}
	const sending = (...paces: Pace[]): Served => ({ chunks: send(paces) });

	/** Answers after some seconds. */
	const after = (seconds: number, served: Served) => async () =>
		await sleep(seconds * 1000).then(() => served);

	const chain = (seconds: number, last: Served) => ({
		[url]: after(seconds, redirecting('/1')),
		'https://cdn.example/1': after(seconds, redirecting('/2')),
		'https://cdn.example/2': after(seconds, last),
	});

	/** Returns what came of a download, and after how many seconds. */
	async function observe(hosts: Parameters<typeof fetchFrom>[0]) {
		const begun = Date.now();
		const fetching = fetchFrom(hosts).then(
			({ file }) => file?.size,
			({ message }: Error) => message,
		);
		let observed: object | undefined;
		void fetching.then((came) => (observed = { came, seconds: (Date.now() - begun) / 1000 }));
		await jest.advanceTimersByTimeAsync(2 * 60 * 60 * 1000);
		return observed;
	}

	const silent = 'its host cdn.example sent nothing for 60 s';
	const tooLong = 'its host cdn.example took more than an hour';
	const noAnswer = 'its host cdn.example gave no answer within 60 s';

	it.each<[string, Parameters<typeof fetchFrom>[0], string, number]>([
		['pauses too long', { [url]: sending([59, 1, 2], [NEVER, 1, 1]) }, silent, 178],
		['sends fast without end', { [url]: sending([0.5, 1, Infinity]) }, tooLong, 3600],
		['never answers', { [url]: after(NEVER, ok) }, noAnswer, 60],
		['redirects, each time just in time', chain(25, ok), noAnswer, 60],
	])('is cut off when it %s', async (_, hosts, message, seconds) => {
		const observed = await observe(hosts);
		expect(observed).toEqual({ came: expect.stringContaining(message) as string, seconds });
	});
});
