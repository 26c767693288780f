import { REFUSALS } from '../../../nodes/MediaGeneration/callback/refusals';
import { sendNudge } from '../../../nodes/MediaGeneration/run/sleep/nap';

const URL = 'https://n8n.example/webhook-waiting/7/media-generation?signature=resume-token';

/** Nudges an execution, whose resume URL answers this, or breaks off. */
async function nudge(answer: Response | undefined) {
	const fetched = jest.spyOn(globalThis, 'fetch');
	if (answer) fetched.mockResolvedValue(answer);
	else fetched.mockRejectedValue(new TypeError('fetch failed'));
	const result = await sendNudge(URL, 'task');
	const [[url, request] = []] = fetched.mock.calls;
	return { result, url, request };
}
afterEach(() => jest.restoreAllMocks());

const AT = 'the resume URL at n8n.example';
const json = (status: number, body: object) => Response.json(body, { status });
const refuse = (reason: keyof typeof REFUSALS) =>
	json(REFUSALS[reason][0], { accepted: false, reason });
const answerAsN8n = (code: number, message: string) => json(code, { code, message });
const STILL_ASLEEP = { isWoken: false, isSleepOver: false };
const OVER = { isWoken: false, isSleepOver: true };

it.each<[string, Response | undefined, object]>([
	['wakes it', json(200, { resumed: true }), { isWoken: true, isSleepOver: true }],
	['goes on waiting', json(200, { accepted: true, resumed: false }), STILL_ASLEEP],
	['is refused because the run waits for other tasks', refuse('taskNotInExecution'), OVER],
	['finds it gone', answerAsN8n(404, 'The execution "7" does not exist.'), OVER],
	// The execution may be about to sleep.
	['finds it running', answerAsN8n(409, 'The execution "7" is running already.'), STILL_ASLEEP],
	[
		"gets a proxy's page",
		new Response('<p>The execution "7" does not exist.', { status: 404 }),
		{ failure: `${AT} answered 404 without n8n's JSON` },
	],
	['gets no answer', undefined, { failure: `${AT} can't be reached (no connection)` }],
])('a nudge that %s', async (_, answer, expected) => {
	const timeout = jest.spyOn(AbortSignal, 'timeout');
	expect((await nudge(answer)).result).toEqual(expected);
	expect(timeout).toHaveBeenCalledWith(30_000);
});

it('a nudge is not signed, as it decides nothing', async () => {
	const { url, request } = await nudge(Response.json({}));
	expect(url).toBe(URL);
	const data = { task_id: 'task', callbackType: 'nudge' };
	expect(JSON.parse(request?.body as string)).toEqual({ data });
	expect(request?.headers).toEqual({ 'Content-Type': 'application/json' });
});
