import { post } from '../../../nodes/MediaGeneration/lib/post';

const HOST = 'https://n8n.example/webhook?signature=secret';

/** Sends a POST to this URL, and returns the request and what came of it. */
async function send(url: string, answer: Response | Error, headers?: Record<string, string>) {
	const fetched = jest.spyOn(globalThis, 'fetch');
	if (answer instanceof Error) fetched.mockRejectedValue(answer);
	else fetched.mockResolvedValue(answer);
	const result = await post(url, { timeout: 3_000, headers, body: 'text' });
	const [[address, request] = []] = fetched.mock.calls;
	return { result, address, request };
}
afterEach(() => jest.restoreAllMocks());

const basic = (login: string) => ({ Authorization: `Basic ${btoa(login)}` });

it.each<[string, string, object]>([
	['none', HOST, {}],
	['one', HOST.replace('//', '//me:pa%40ss%3A@'), basic('me:pa@ss:')],
])('of a URL with a login, here %s, the login is sent in a header', async (_, url, login) => {
	const { result, address, request } = await send(url, Response.json({ a: 1 }), { 'X-One': '1' });
	expect(result).toEqual({ httpStatus: 200, body: { a: 1 } });
	expect(address).toBe(HOST);
	const headers = { 'X-One': '1', ...login };
	expect(request).toMatchObject({ method: 'POST', body: 'text', redirect: 'manual' });
	expect(request?.headers).toEqual(headers);
});

const broken = (cause?: object) =>
	new TypeError(`Failed to parse URL from ${HOST}`, cause && { cause });

it.each<[Error, string]>([
	[broken({ code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
	[broken(new Error(HOST)), 'no connection'],
])('without an answer, the reason has nothing of the URL: %j', async (error, code) => {
	const { result } = await send(HOST, error);
	expect(result).toEqual({ silence: `can't be reached (${code})` });
});

it('an answer that takes too long is not taken for none', async () => {
	const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
	const { result } = await send(HOST, broken());
	expect(result).toEqual({ silence: 'does not answer within 3 seconds' });
	expect(timeout).toHaveBeenCalledWith(3_000);
});
