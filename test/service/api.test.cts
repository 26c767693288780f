import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { call, create, createTask, readAnswer, readCredits, start } from './support.cts';

const createPath = '/api/v1/jobs/createTask';
const order = { model: 'custom/x', input: {} };

test.each([
	['no token', undefined, 'The Authorization header is missing'],
	['a wrong token', 'Bearer other', 'The access token is not valid'],
	['the token without its scheme', 'dev-token', 'The access token is not valid'],
])('access is refused with %s, by HTTP 200 and code 401', async (_what, authorization, msg) => {
	const { url } = await start();
	const headers = authorization ? { Authorization: authorization } : undefined;
	const response = await fetch(url + createPath, { method: 'POST', headers });
	expect(response.status).toBe(200);
	expect(await readAnswer(response)).toEqual({ code: 401, msg, data: null });
});

test.each([{}, { 'User-Agent': '  ' }])('access is refused to the agent %j', async (agent) => {
	const { url } = await start();
	const headers = { Authorization: 'Bearer dev-token', ...agent };
	const arrived = once(get(`${url}/api/v1/chat/credit`, { headers }), 'response');
	const [response] = (await arrived) as [IncomingMessage];
	response.resume();
	expect(response.statusCode).toBe(403);
	expect(response.headers['content-type']).toContain('text/html');
});

test.each([
	[createPath, 'text/plain', JSON.stringify(order)],
	[createPath, 'application/jsonx', JSON.stringify(order)],
	[createPath, 'application/json', '{"model":'],
	[createPath, 'application/json', ''],
	['/api/file-stream-upload', 'application/json', '{"uploadPath":"in"}'],
])('%s refuses a %s body %j', async (path, type, body) => {
	const service = await start();
	const init = { method: 'POST', headers: { 'Content-Type': type }, body };
	const response = await call(service, path, init);
	expect(response.status).toBe(200);
	expect(await readAnswer(response)).toMatchObject({ code: 422, data: null });
	expect(service.tasks.size).toBe(0);
});

test('the account pays for each task until its credits are too few', async () => {
	const service = await start({ credits: 30 });
	await createTask(service);
	expect(await readCredits(service)).toBe(17.5);
	await createTask(service);
	const msg = 'The account has 5 credits: too few for a task';
	expect(await create(service, order)).toEqual({ code: 402, msg, data: null });
	expect(service.tasks.size).toBe(2);
});

test('the account creates no more tasks than its rate limit, and does not pay for those refused', async () => {
	const service = await start({ rateLimit: { requests: 2, seconds: 0.3 } });
	const answers = await Promise.all([1, 2, 3].map(() => create(service, order)));
	expect(answers.map(({ code }) => code).sort()).toEqual([200, 200, 429]);
	expect(service.tasks.size).toBe(2);
	expect(await readCredits(service)).toBe(975);
	await pause(310);
	expect((await create(service, order)).code).toBe(200);
});

const file = new Blob(['a picture'], { type: 'image/png' });
test.each<[Record<string, string | Blob>, string]>([
	[{ uploadPath: 'in' }, 'file is required'],
	[{ file }, 'uploadPath is required'],
	[{ file, uploadPath: '' }, 'uploadPath must not be empty'],
	[{ file, uploadPath: '../x' }, 'uploadPath must not hold ..'],
	[{ file, uploadPath: 'in', fileName: 'b/a' }, 'fileName must not hold a slash'],
	[{ file, uploadPath: 'in', path: 'x' }, 'path is not known'],
])('the upload %j is refused: %s', async (parts, msg) => {
	const service = await start();
	const body = new FormData();
	for (const [name, part] of Object.entries(parts)) body.append(name, part);
	const response = await call(service, '/api/file-stream-upload', { method: 'POST', body });
	expect(await readAnswer(response)).toEqual({ code: 422, msg, data: null });
	expect(service.uploads.size).toBe(0);
});
