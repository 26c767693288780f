import { call, readAnswer, start } from './support.cts';

const order = { model: 'custom/x', input: { prompt: 'Night' } };

const HEADER = 'Idempotency-Key';
const DAY_MS = 24 * 60 * 60_000;

afterEach(() => jest.restoreAllMocks());

async function create(
	service: Awaited<ReturnType<typeof start>>,
	key: string,
	body: object = order,
) {
	const headers = { 'Content-Type': 'application/json', [HEADER]: key };
	const init = { method: 'POST', headers, body: JSON.stringify(body) };
	return await readAnswer(await call(service, '/api/v1/jobs/createTask', init));
}

test('a creation that comes again within a day is answered with its task, and charged once', async () => {
	const service = await start({ idempotencyHeader: HEADER });
	const first = await create(service, 'one');
	expect(await create(service, 'one')).toEqual(first);
	expect(await create(service, 'x'.repeat(128))).not.toEqual(first);
	expect(service.tasks.size).toBe(2);
	jest.spyOn(Date, 'now').mockReturnValue(Date.now() + DAY_MS + 1_000);
	expect(await create(service, 'one')).not.toEqual(first);
});

test.each([
	['of another request', 'one', { ...order, callBackUrl: 'http://127.0.0.1/' }, 'another request'],
	['of 129 characters', 'x'.repeat(129), order, 'must have 1 to 128 characters'],
])('a key %s is refused', async (_, key, body, msg) => {
	const service = await start({ idempotencyHeader: HEADER });
	await create(service, 'one');
	const refusal = { code: 422, msg: expect.stringContaining(msg) as string };
	expect(await create(service, key, body)).toMatchObject(refusal);
	expect(service.tasks.size).toBe(1);
});

test('without the setting the header is ignored', async () => {
	const service = await start();
	expect(await create(service, 'one')).not.toEqual(await create(service, 'one'));
});

test('#lost=2 loses two answers to a creation, by its key', async () => {
	const service = await start({ idempotencyHeader: HEADER });
	const body = { ...order, input: { prompt: '#lost=2' } };
	for (let times = 0; times < 2; times++)
		await expect(create(service, 'one', body)).rejects.toThrow('fetch failed');
	const [taskId] = service.tasks.keys();
	expect(await create(service, 'one', body)).toMatchObject({ code: 200, data: { taskId } });
});
