import { createFetchService } from '../../../../../nodes/MediaGeneration/operations/wait/asleep/fetchService';

/** Asks the service for a task, as a look does. It answers this, or breaks off. */
async function look(answer?: Response) {
	const fetched = jest.spyOn(globalThis, 'fetch');
	if (answer) fetched.mockResolvedValue(answer);
	else fetched.mockRejectedValue(new TypeError('fetch failed'));
	const service = createFetchService(
		{ baseUrl: 'https://api.example', accessToken: 'secret-token' },
		'https://n8n.example/webhook-waiting/7/media-generation?signature=resume-token',
	);
	const task = await service.getTask('task', { timeoutSeconds: 7 });
	const [[url, request] = []] = fetched.mock.calls;
	return { task, url, request };
}
afterEach(() => jest.restoreAllMocks());

it("the service is asked without n8n's helpers, by the token, which goes nowhere else", async () => {
	const timeout = jest.spyOn(AbortSignal, 'timeout');
	const data = { taskId: 'task', state: 'success' };
	const { task, url, request } = await look(Response.json({ code: 200, data }));
	expect(task).toMatchObject({ taskId: 'task', status: 'completed' });
	expect(url).toMatch(/^https:\/\/api\.example\/.*taskId=task$/);
	expect(request).toMatchObject({ method: 'GET', redirect: 'manual' });
	expect(request?.headers).toMatchObject({ Authorization: 'Bearer secret-token' });
	const signals = timeout.mock.results.map(({ value }) => value as AbortSignal);
	expect(timeout.mock.calls.at(-1)).toEqual([7_000]);
	expect(request?.signal === signals.at(-1)).toBe(true);
});

it.each([
	['redirects', new Response('', { status: 302, headers: { location: 'https://x' } })],
	['has no body', new Response(null, { status: 204 })],
	['is not there', undefined],
])('a service that %s is a failed look', async (_, answer) => {
	const message = expect.not.stringContaining('secret-token') as string;
	await expect(look(answer)).rejects.toMatchObject({ message });
});
