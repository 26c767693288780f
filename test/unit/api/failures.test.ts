import type { TaskService } from '../../../nodes/MediaGeneration/api/client';
import { isOfKind, type ServiceError } from '../../../nodes/MediaGeneration/api/failure';
import { openService, REQUEST, SETTINGS, type Answer } from './service';

/** What follows from a failure, wherever it is met. */
interface Verdict {
	/** What is said of it. */
	words: RegExp;
	/** Nothing was done, so nothing was created. */
	didNothing?: boolean;
	/** Every later creation of the account would fail too. */
	appliesToAll?: boolean;
	/** Asking for the task again later may succeed. */
	isTemporary?: boolean;
}

const VERDICTS = {
	token: { words: /does not accept the access token/, didNothing: true, appliesToAll: true },
	credits: { words: /too few credits/, didNothing: true, appliesToAll: true },
	turnedAway: { words: /turned the request away/, didNothing: true },
	notFound: { words: /has nothing at that address/, didNothing: true },
	input: { words: /did not accept what was sent/, didNothing: true },
	rate: { words: /too many requests/, didNothing: true, isTemporary: true },
	maintenance: {
		words: /under maintenance/,
		didNothing: true,
		appliesToAll: true,
		isTemporary: true,
	},
	internal: { words: /internal fault/, isTemporary: true },
	other: { words: /rejected the request/ },
	redirect: { words: /is not followed/ },
	plainRedirect: { words: /is not followed/, didNothing: true },
	unreadable: { words: /isn't JSON from the task service|is incomplete/ },
	neverSent: { words: /can't be reached/, didNothing: true, isTemporary: true },
	lost: { words: /broke off|gave no answer|is of another task/, isTemporary: true },
} satisfies Record<string, Verdict>;

type Name = keyof typeof VERDICTS;

const say = (code: number, msg = '', data: unknown = null) => ({ code, msg, data });
const PAGE = '<html>';

type Ask = (service: TaskService) => Promise<unknown>;
const create: Ask = async (service) => await service.createTask(REQUEST, SETTINGS);
const getCredits: Ask = async (service) => await service.request('creditsPath', SETTINGS);
const getRecord: Ask = async (service) => await service.getTaskRecord('task', SETTINGS);

/** Asks a service that gives this answer, and returns the error. */
const fail = async (answer: Answer, ask: Ask): Promise<ServiceError> =>
	await ask(openService(answer).service).then(
		(result) => {
			throw new Error(`There is a result: ${JSON.stringify(result)}`);
		},
		(error: ServiceError) => error,
	);

const judge = ({ facts: { appliesToAll, isTemporary } }: ServiceError) => ({
	appliesToAll,
	isTemporary,
});

/** Asserts what is said of a creation, and if it is certain that it made nothing. */
async function expectCreation(answer: Answer, { words, didNothing = false }: Verdict) {
	const error = await fail(answer, create);
	expect([answer, !isOfKind(error, 'unknown', 'perhapsRejected')]).toEqual([answer, didNothing]);
	expect(error.message).toMatch(words);
	expect(error.description).toMatch(didNothing ? /^No task was created\. ./ : /may exist/);
}

const CODES: Array<[name: Name, codes: number[]]> = [
	['token', [401]],
	['credits', [402, 433]],
	['turnedAway', [403, 405]],
	['notFound', [404]],
	['input', [400, 413, 422]],
	['rate', [429]],
	['maintenance', [455]],
	['internal', [408, 500, 501, 503, 599]],
	['other', [0, 201, 418, 430, 505]],
];

const rows = CODES.flatMap(([name, codes]) => codes.map((code) => [code, name] as const));

it.each(rows)('code %d is a failure of the kind %s', async (code, name) => {
	const verdict: Verdict = VERDICTS[name];
	const { didNothing = false, appliesToAll, isTemporary, words } = verdict;
	const error = await fail([200, say(code, 'Some words')], getCredits);
	const facts = { code, answeredBy: 'service', didNothing };
	expect(error).toMatchObject({ kind: name, facts, message: expect.stringMatching(words) });
	expect(judge(error)).toEqual({ appliesToAll, isTemporary });
	expect(error.message).toContain(`(${code}: Some words)`);
	await expectCreation([299, say(code)], verdict);
	// As HTTP status, with the envelope and with a page.
	if (code >= 400)
		for (const body of [say(code), PAGE, say(200)]) await expectCreation([code, body], verdict);
	// Behind another HTTP status, which decides if nothing was done.
	for (const status of [408, 500, 505, 400, 404, 429].filter((one) => one !== code)) {
		const isRejected = status < 430 && status !== 408 && didNothing;
		await expectCreation([status, say(code)], { ...verdict, didNothing: isRejected });
	}
});

const LOST = (code: string, syscall = '') => Object.assign(new Error(code), { code, syscall });
const blocked = Object.assign(new Error('blocked'), { name: 'SsrfBlockedIpError' });
const inner = { cause: LOST('EHOSTUNREACH', 'connect') };
const loop = new Error('loop');
loop.cause = loop;

it.each<[Name, ...Answer[]]>([
	['plainRedirect', [301, PAGE], [307, PAGE], [302, say(500)]],
	['redirect', [300, PAGE], [303, say(401)], [300, say(200, '', { taskId: 'task' })]],
	['unreadable', [200, PAGE], [201, { status: 'ok' }], [200, say(200)]],
	['unreadable', [200, say(200, 'success', { taskId: 'a\nb' })]],
	['neverSent', LOST('ECONNREFUSED'), LOST('ENETUNREACH', 'connect'), LOST('CERT_HAS_EXPIRED')],
	['neverSent', blocked, new Error('outer', { cause: inner })],
	['lost', LOST('ECONNRESET'), LOST('ETIMEDOUT'), LOST('EHOSTUNREACH', 'read'), loop],
])('a creation without a code of its own is a failure of the kind %s', async (name, ...answers) => {
	for (const answer of answers) await expectCreation(answer, VERDICTS[name]);
});

it("of n8n's guard it says what to set, and of a timeout too", async () => {
	expect((await fail(blocked, getRecord)).description).toContain('N8N_SSRF_ALLOWED_IP_RANGES');
	expect((await fail(LOST('ETIMEDOUT'), getRecord)).description).toContain('Request Timeout');
});

it.each<[Name, Answer]>([
	['redirect', [302, PAGE]],
	['unreadable', [200, PAGE]],
	['lost', [200, say(200, '', { taskId: 'another', state: 'success' })]],
	['lost', LOST('ECONNRESET')],
])('details without a code of their own are a failure of the kind %s', async (kind, answer) => {
	const error = await fail(answer, getRecord);
	const { words, isTemporary }: Verdict = VERDICTS[kind];
	expect(error.message).toMatch(words);
	expect([error.kind, judge(error)]).toEqual([kind, { isTemporary }]);
});

const TEXTS: Array<[kind: string, code: number, texts: string[]]> = [
	['credits', 405, ['Insufficient credits', 'Your balance is too low']],
	['rate', 405, ['Call frequency too high', 'too frequent']],
	['rate', 430, ['Rate limit exceeded', 'Too many tasks per minute']],
	['tasksAtOnce', 429, ['The number of concurrent tasks has reached its limit.']],
	['tasksAtOnce', 430, ['Your credits allow 2 concurrent tasks', 'parallel task over limit']],
	['turnedAway', 405, ['Method not allowed']],
	['other', 430, ['It could not be generated', 'the integrated separator failed']],
	['credits', 500, ['Credits insufficient']],
	['input', 500, ['This field is required', 'size is not within the range of allowed options']],
	['input', 500, ['Image fetch failed.', 'image_urls file type not supported']],
	['input', 500, ['The text length cannot exceed the maximum limit']],
	['internal', 500, ['Image fetch failed after the task was created', 'Too many concurrent tasks']],
	['internal', 500, ['The task was created, but prompt is required', `${'x'.repeat(9_000)} is`]],
	['input', 422, ['The rate limit of 30 fps is exceeded', 'Too many credits in the input']],
];

it.each(TEXTS)('the kind is %s for the code %d with one of %j', async (kind, code, texts) => {
	for (const text of texts)
		expect([text, await fail([200, say(code, text)], getCredits)]).toMatchObject([text, { kind }]);
});

it('a text of code 500 decides nothing behind HTTP 500, nor do our own words', async () => {
	await expectCreation([500, say(500, 'This field is required')], VERDICTS.internal);
	await expectCreation([200, 'rate limit, credits, is required'], VERDICTS.unreadable);
});
