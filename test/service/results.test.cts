import type { Service, SettingsInput } from '../../dev/service/index.cts';
import { call, create, createTask, readAnswer, start } from './support.cts';

const url = 'https://media.example/a.mp4';

interface Details {
	resultJson: unknown;
	response?: { data: Array<Record<string, unknown>> };
	creditsConsumed: number;
}

async function readDetails(service: Service, taskId: string) {
	const response = await call(service, `/api/v1/jobs/recordInfo?taskId=${taskId}`);
	return (await readAnswer(response)).data as Details;
}

/** Runs a task of a model, or of one that takes any input, and returns what its details have. */
async function finish(model: string, input: object = {}, settings?: SettingsInput) {
	const service = await start(settings);
	const { data } = await create(service, { model, input });
	const { taskId } = data as { taskId: string };
	await service.waitForTask(taskId);
	const origin = `${service.resultsUrl}/results/${taskId}`;
	return { service, taskId, origin, details: await readDetails(service, taskId) };
}

async function readFile(link: string) {
	const response = await fetch(link);
	const bytes = Buffer.from(await response.arrayBuffer());
	return { status: response.status, type: response.headers.get('content-type'), bytes };
}

async function renew(service: Service, link: unknown) {
	const headers = { 'Content-Type': 'application/json' };
	const init = { method: 'POST', headers, body: JSON.stringify({ url: link }) };
	return await readAnswer(await call(service, '/api/v1/common/download-url', init));
}

test.each<[string, object, string[], string]>([
	['iota/remove-background', {}, ['result.png'], '89504e47'],
	[
		'epsilon-canvas/text-to-image',
		{ prompt: 'A fox' },
		['result.png', 'result-2.png', 'result-3.png', 'result-4.png'],
		'89504e47',
	],
	['epsilon-voice/text-to-speech', { text: 'A fox' }, ['result.mp3'], 'fffb'],
	['custom/x', { prompt: '#files=2' }, ['result.mp4', 'result-2.mp4'], ''],
])('%s makes files: %j', async (model, input, names, signature) => {
	const { details, origin } = await finish(model, input);
	const { resultUrls } = JSON.parse(String(details.resultJson)) as { resultUrls: string[] };
	expect(resultUrls).toEqual(names.map((name) => `${origin}/${name}`));
	const files = await Promise.all(resultUrls.map(readFile));
	expect(files.every(({ bytes }) => bytes.toString('hex').startsWith(signature))).toBe(true);
	const types = { png: 'image/png', mp3: 'audio/mpeg', mp4: 'video/mp4' };
	const [, extension = ''] = String(names[0]).split('.');
	expect(new Set(files.map(({ type }) => type))).toEqual(
		new Set([types[extension as keyof typeof types]]),
	);
});

test('music is in the response, with covers, and resultJson is empty', async () => {
	const { details, origin } = await finish('zeta-song-v5', { prompt: 'A fox', instrumental: true });
	expect(details.resultJson).toBe('');
	expect(details.response?.data).toEqual([
		{
			audio_url: `${origin}/result.mp3`,
			stream_audio_url: `${origin}/stream.mp3`,
			image_url: `${origin}/cover.png`,
			title: 'Foxes at Dusk, Take 1',
			duration: 0.21,
		},
		expect.objectContaining({ audio_url: `${origin}/result-2.mp3` }),
	]);
	expect((await readFile(`${origin}/cover-2.png`)).status).toBe(200);
});

test('text is an object', async () => {
	const { details } = await finish('rho-caption/video-to-text', { video_url: url });
	expect(JSON.parse(String(details.resultJson))).toEqual({
		resultObject: { text: 'A fox crosses a field at dusk.', language: 'en' },
	});
});

test('resultJson can be an object itself', async () => {
	const { details, origin } = await finish('zeta-canvas-4.0', { prompt: 'A fox' });
	expect(details.resultJson).toEqual({ resultUrls: [`${origin}/result.png`] });
});

test('the cost is preliminary while the task runs', async () => {
	const service = await start({ taskSeconds: 0.2 });
	const order = { model: 'epsilon-voice/text-to-speech', input: { text: 'A fox' } };
	const { taskId } = (await create(service, order)).data as { taskId: string };
	expect((await readDetails(service, taskId)).creditsConsumed).toBe(6);
	await service.waitForTask(taskId);
	expect((await readDetails(service, taskId)).creditsConsumed).toBe(12.5);
});

test('#lateRecord has no details at first', async () => {
	const service = await start();
	const taskId = await createTask(service, '#lateRecord=0.1');
	const read = () => call(service, `/api/v1/jobs/recordInfo?taskId=${taskId}`).then(readAnswer);
	expect(await read()).toEqual({ code: 422, msg: 'recordInfo is null', data: null });
	await new Promise((resolve) => setTimeout(resolve, 110));
	expect((await read()).code).toBe(200);
});

describe('a result file with', () => {
	const start = (prompt: string) => finish('custom/x', { prompt }, { lookupSeconds: 0 });

	test('#fileSize repeats its own name', async () => {
		const { origin, taskId } = await start('#fileSize=0.2 #files=2');
		for (const name of ['result.mp4', 'result-2.mp4']) {
			const { bytes } = await readFile(`${origin}/${name}`);
			expect(bytes.equals(Buffer.alloc(200_000, `${taskId}/${name}\n`))).toBe(true);
		}
	});

	test.each(['', ' #fileSize=1'])('#fileBreaks%s is cut off', async (size) => {
		const { origin } = await start(`#fileBreaks${size}`);
		const response = await fetch(`${origin}/result.mp4`);
		expect(response.status).toBe(200);
		await expect(response.arrayBuffer()).rejects.toThrow('terminated');
	});

	test.each(['', ' #fileSize=1'])('#fileSlow%s arrives bit by bit', async (size) => {
		const { origin } = await start(`#fileSlow=0.3${size}`);
		const began = performance.now();
		const response = await fetch(`${origin}/result.mp4`);
		expect(performance.now() - began).toBeLessThan(250);
		const { byteLength } = await response.arrayBuffer();
		expect(String(byteLength)).toBe(response.headers.get('content-length'));
		expect(performance.now() - began).toBeGreaterThan(250);
	});

	test('#fileRefused cannot be had, nor its link renewed', async () => {
		const { origin, service } = await start('#fileRefused');
		expect((await readFile(`${origin}/result.mp4`)).status).toBe(403);
		expect((await renew(service, `${origin}/result.mp4`)).code).toBe(422);
	});

	test('#fileRedirects is behind one redirect', async () => {
		const { origin } = await start('#fileRedirects');
		const response = await fetch(`${origin}/result.mp4`, { redirect: 'manual' });
		expect(response.status).toBe(302);
		expect((await readFile(`${origin}/result.mp4`)).type).toBe('video/mp4');
	});

	test('#fileStalls stops after three bytes, and the emulator still closes', async () => {
		const { origin, service } = await start('#fileStalls');
		const { body } = await fetch(`${origin}/result.mp4`);
		const { value } = (await body?.getReader().read()) as { value: Uint8Array };
		expect(value).toHaveLength(3);
		await service.close();
	});
});

test('expired links of known tasks are renewed, and so are those of uploads', async () => {
	const { origin, service } = await finish('custom/x', {}, { lookupSeconds: 0 });
	const expired = `${origin}/result.mp4?expires=1`;
	expect((await readFile(expired)).status).toBe(403);
	const body = new FormData();
	body.append('file', new Blob(['a picture']), 'a picture.png');
	body.append('uploadPath', 'in');
	await call(service, '/api/file-stream-upload', { method: 'POST', body });
	const links = [expired, [...service.uploads.values()][0]?.downloadUrl];
	for (const link of links) {
		const { code, data } = await renew(service, link);
		expect(code).toBe(200);
		expect((await readFile(String(data))).status).toBe(200);
		const expires = Number(new URL(String(data)).searchParams.get('expires'));
		expect(Math.abs(expires - Date.now() - 1_200_000)).toBeLessThan(3000);
	}
});

test.each([
	['https://elsewhere.example/results/x/result.mp4'],
	['no URL'],
	['{origin}/result-2.mp4'],
	['{origin}x/result.mp4'],
])('the link %s is not renewed', async (link) => {
	const { origin, service } = await finish('custom/x', {}, { lookupSeconds: 0 });
	const answer = await renew(service, link.replace('{origin}', origin));
	expect(answer).toEqual({ code: 422, msg: 'url is wrong', data: null });
});
