import { setTimeout as pause } from 'node:timers/promises';
import type { Service, SettingsInput } from '../../dev/service/index.cts';
import { call, create, get, post, start } from './support.cts';

async function readDetails(service: Service, taskId: string) {
	const { data } = await get(service, `/api/v1/jobs/recordInfo?taskId=${taskId}`);
	return data as { resultJson: unknown };
}

/** Runs a task, by default of a model that takes any input. */
async function finish(prompt = '', settings?: SettingsInput, model = 'custom/x') {
	const service = await start(settings);
	const { data } = await create(service, { model, input: { prompt } });
	const { taskId } = data as { taskId: string };
	await service.waitForTask(taskId);
	return { service, taskId, folder: `${service.resultsUrl}/results/${taskId}` };
}

async function readLink(service: Service, taskId: string) {
	const { resultJson } = await readDetails(service, taskId);
	return (JSON.parse(String(resultJson)) as { resultUrls: [string] }).resultUrls[0];
}

const renew = async (service: Service, url: unknown) =>
	await post(service, '/api/v1/common/download-url', { url });

test('a request that carries an Authorization header is refused, and recorded', async () => {
	const { resultsUrl, leaks } = await start();
	const headers = { Authorization: 'Bearer dev-token' };
	expect((await fetch(`${resultsUrl}/sample.png`)).status).toBe(200);
	expect(leaks).toEqual([]);
	const paths = ['/sample.png', '/results/x/result.mp4', '/uploads/x', '/nope'];
	for (const path of paths) expect((await fetch(resultsUrl + path, { headers })).status).toBe(400);
	expect(leaks).toEqual(paths.map((path) => ({ method: 'GET', path })));
});

test('a link expires with an XML 403, and the details have a fresh one', async () => {
	const { service, taskId } = await finish('', { resultSeconds: 0.05 });
	const stale = await readLink(service, taskId);
	await pause(60);
	const refused = await fetch(stale);
	expect(refused.status).toBe(403);
	expect(refused.headers.get('content-type')).toContain('application/xml');
	expect(await refused.text()).toContain('<Code>AccessDenied</Code>');
	service.set({ resultSeconds: 60 });
	const fresh = await readLink(service, taskId);
	expect((await fetch(fresh)).status).toBe(200);
	expect(fresh.split('?')[0]).toBe(stale.split('?')[0]);
});

test('expired links of known tasks are renewed, and so are those of uploads', async () => {
	const { folder, service } = await finish();
	const body = new FormData();
	body.append('file', new Blob(['a picture']), 'a picture.png');
	body.append('uploadPath', 'in');
	await call(service, '/api/file-stream-upload', { method: 'POST', body });
	const [upload] = service.uploads.values();
	for (const link of [`${folder}/result.mp4?expires=1`, upload?.downloadUrl]) {
		const { code, data } = await renew(service, link);
		expect(code).toBe(200);
		expect((await fetch(String(data))).status).toBe(200);
		const expires = Number(new URL(String(data)).searchParams.get('expires'));
		expect(Math.abs(expires - Date.now() - 1_200_000)).toBeLessThan(3000);
	}
});

test.each([
	['', 'https://elsewhere.example/results/x/result.mp4'],
	['', '{folder}/result-2.mp4'],
	['', '{folder}x/result.mp4'],
	['#fileRefused', '{folder}/result.mp4'],
])('with the prompt "%s", the link %s is not renewed', async (prompt, link) => {
	const { folder, service } = await finish(prompt);
	const answer = await renew(service, link.replace('{folder}', folder));
	expect(answer).toEqual({ code: 422, msg: 'url is wrong', data: null });
});

test('a file with #fileRedirects is behind one redirect', async () => {
	const { folder } = await finish('#fileRedirects');
	const response = await fetch(`${folder}/result.mp4`, { redirect: 'manual' });
	expect(response.status).toBe(302);
	expect((await fetch(`${folder}/result.mp4`)).headers.get('content-type')).toBe('video/mp4');
});

test('the emulator closes while a file stalls', async () => {
	const { folder, service } = await finish('#fileStalls');
	const { body } = await fetch(`${folder}/result.mp4`);
	expect((await body?.getReader().read())?.value).toHaveLength(3);
	await service.close();
});

test('resultJson can be an object itself', async () => {
	const { folder, service, taskId } = await finish('A fox', {}, 'zeta-canvas-4.0');
	const { resultJson } = await readDetails(service, taskId);
	expect(resultJson).toEqual({ resultUrls: [`${folder}/result.png`] });
});
