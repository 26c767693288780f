import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../../dev/service/index.cts';
import { call, createTask, readAnswer, start } from './support.cts';

async function readLink(service: Service, taskId: string) {
	const response = await call(service, `/api/v1/jobs/recordInfo?taskId=${taskId}`);
	const { resultJson } = (await readAnswer(response)).data as { resultJson: string };
	return (JSON.parse(resultJson) as { resultUrls: [string] }).resultUrls[0];
}

test('links expire with an XML 403, and the details give a fresh one', async () => {
	const service = await start({ resultSeconds: 0.05 });
	const taskId = await createTask(service);
	await service.waitForTask(taskId);
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

test('a request that carries an Authorization header is refused, and recorded', async () => {
	const { resultsUrl, leaks } = await start();
	const headers = { Authorization: 'Bearer dev-token' };
	expect((await fetch(`${resultsUrl}/sample.png`)).status).toBe(200);
	expect(leaks).toEqual([]);
	for (const path of ['/sample.png', '/results/x/result.mp4', '/uploads/x', '/big/1.bin', '/nope'])
		expect((await fetch(resultsUrl + path, { headers })).status).toBe(400);
	expect(leaks).toHaveLength(5);
	expect(leaks[0]).toEqual({ method: 'GET', path: '/sample.png' });
});
