import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { call, create, createTask, get, readAnswer, start } from './support.cts';

const CREATE = '/api/v1/jobs/createTask';
const CREDIT = '/api/v1/chat/credit';
const order = { model: 'custom/x', input: {} };

test.each([
	[CREATE, '', 'The Authorization header is missing', { data: null }],
	[CREATE, 'Bearer other', 'The access token is not valid', { data: null }],
	['/api/v1/models', 'Bearer other', 'The access token is not valid', {}],
])('%s refuses the authorization "%s" by HTTP 200 and code 401', async (path, text, msg, data) => {
	const { url } = await start();
	const response = await fetch(url + path, { method: 'POST', headers: { Authorization: text } });
	expect(response.status).toBe(200);
	expect(await readAnswer(response)).toEqual({ code: 401, msg, ...data });
});

const PATHS: Array<[endpoint: string, path: string, init?: RequestInit]> = [
	['creation', CREATE, { method: 'POST' }],
	['details', '/api/v1/jobs/recordInfo?taskId=x'],
	['details', '/api/v1/tasks/query/x'],
	['balance', CREDIT],
	['uploads', '/api/file-stream-upload', { method: 'POST' }],
	['catalogue', '/api/v1/models/custom/schema'],
	['downloadUrl', '/api/v1/common/download-url', { method: 'POST' }],
];

test.each([...new Set(PATHS.map(([endpoint]) => endpoint))])(
	'without %s, its paths are not found, and all others are',
	async (off) => {
		const service = await start({ [off]: false });
		for (const [endpoint, path, init] of PATHS) {
			const response = await call(service, path, init);
			const { code, msg } = await readAnswer(response);
			const isOff = response.status === 404 && code === 404 && msg.startsWith('There is no');
			expect([path, isOff]).toEqual([path, endpoint === off]);
		}
	},
);

test('access without a user agent is refused', async () => {
	const { url } = await start();
	const request = http.get(url + CREDIT, { headers: { Authorization: 'Bearer dev-token' } });
	const [response] = (await once(request, 'response')) as [IncomingMessage];
	response.resume();
	expect(response.statusCode).toBe(403);
	expect(response.headers['content-type']).toContain('text/html');
});

test.each([
	[CREATE, 'text/plain', JSON.stringify(order)],
	[CREATE, 'application/json', '{"model":'],
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
	for (const credits of [17.5, 5]) {
		await createTask(service);
		expect((await get(service, CREDIT)).data).toBe(credits);
	}
	const msg = 'The account has 5 credits: too few for a task';
	expect(await create(service, order)).toEqual({ code: 402, msg, data: null });
	expect(service.tasks.size).toBe(2);
});

test('the account creates no more tasks than its rate limit, and does not pay for those refused', async () => {
	const service = await start({ rateLimit: { requests: 2, seconds: 0.3 } });
	const answers = await Promise.all([1, 2, 3].map(() => create(service, order)));
	expect(answers.map(({ code }) => code).sort()).toEqual([200, 200, 429]);
	expect(service.tasks.size).toBe(2);
	expect((await get(service, CREDIT)).data).toBe(975);
	await pause(310);
	expect((await create(service, order)).code).toBe(200);
});

const file = new Blob(['a picture'], { type: 'image/png' });
test.each<[Record<string, string | Blob>, string]>([
	[{ uploadPath: 'in' }, 'file: Required'],
	[{ file }, 'uploadPath: Required'],
	[{ file, uploadPath: '' }, 'uploadPath: String must'],
	[{ file, uploadPath: '../x' }, 'uploadPath: Must not hold ..'],
	[{ file, uploadPath: 'in', fileName: 'b/a' }, 'fileName: Invalid'],
	[{ file, uploadPath: 'in', path: 'x' }, "Unrecognized key(s) in object: 'path'"],
])('the upload %j is refused: %s', async (parts, msg) => {
	const service = await start();
	const body = new FormData();
	for (const [name, part] of Object.entries(parts)) body.append(name, part);
	const response = await call(service, '/api/file-stream-upload', { method: 'POST', body });
	const answer = { code: 422, msg: expect.stringContaining(msg) as string, data: null };
	expect(await readAnswer(response)).toEqual(answer);
	expect(service.uploads.size).toBe(0);
});
