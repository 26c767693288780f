import type { IExecuteFunctions } from 'n8n-workflow';
import { TaskService } from '../../../nodes/MediaGeneration/api/client';
import { UnknownOutcomeError, type ServiceError } from '../../../nodes/MediaGeneration/api/failure';
import { TaskLimit } from '../../../nodes/MediaGeneration/run/overTasks';
import { CreationSender } from '../../../nodes/MediaGeneration/run/sender';
import { openRun } from '../../../nodes/MediaGeneration/run/open';
import type { Item } from '../../../nodes/MediaGeneration/run/item';
import { judgeFailure } from '../../../nodes/MediaGeneration/trigger/fetchDetails';
import { buildCall, fake } from '../n8n';

/** What follows from a failure, wherever it is met. */
interface Verdict {
	/** What is said of it. */
	words: RegExp;
	/** Nothing was done, so nothing was created. */
	certain?: boolean;
	/** Every later creation of the account would fail too. */
	endsRun?: boolean;
	/** The creation is sent again after a pause. */
	waits?: boolean;
	/** Asking for the task again later may succeed. */
	passes?: boolean;
}

const VERDICTS = {
	token: { words: /does not accept the access token/, certain: true, endsRun: true },
	credits: { words: /too few credits/, certain: true, endsRun: true },
	turnedAway: { words: /turned the request away/, certain: true },
	notFound: { words: /has nothing at that address/, certain: true },
	input: { words: /did not accept a field/, certain: true },
	size: { words: /too large for the service/, certain: true },
	rate: { words: /too many requests/, certain: true, waits: true, passes: true },
	// Nothing more is sent once it has waited in vain.
	tasksAtOnce: {
		words: /takes no more tasks at once/,
		certain: true,
		endsRun: true,
		waits: true,
		passes: true,
	},
	maintenance: { words: /under maintenance/, certain: true, endsRun: true, passes: true },
	generation: { words: /could not generate the media/ },
	fault: { words: /internal fault/, passes: true },
	other: { words: /refused the request/ },
	redirect: { words: /is not followed/ },
	plainRedirect: { words: /is not followed/, certain: true },
	unreadable: { words: /isn't JSON from the task service|is empty|is incomplete/ },
	unreachable: { words: /can't be reached: /, certain: true, passes: true },
	lost: { words: /broke off|gave no answer|is of another task/, passes: true },
} satisfies Record<string, Verdict>;

type Name = keyof typeof VERDICTS;

/** HTTP status and body, or what is thrown for want of an answer. */
type Answer = [status: number, body: unknown] | Error;

const say = (code: number, msg = '', data: unknown = null) => ({ code, msg, data });
const PAGE = '<html>';

/** Asks a service, whose answers are these in turn and then as the last one. */
function serviceThat(...answers: Answer[]) {
	let requests = 0;
	const context = fake<IExecuteFunctions>({
		helpers: {
			async httpRequestWithAuthentication() {
				const answer = answers[Math.min(requests++, answers.length - 1)] as Answer;
				await Promise.resolve();
				if (answer instanceof Error) throw answer;
				const [statusCode, body] = answer;
				return { statusCode, body };
			},
		},
	});
	const credentials = { baseUrl: 'https://api.example.com', accessToken: 'a-token' };
	return { service: new TaskService(context, credentials), count: () => requests };
}

let runs = 0;

/** Creates two tasks, one after the other. */
async function createTwo(answer: Answer) {
	const { service, count } = serviceThat(answer);
	const call = buildCall({ input: [{}, {}] });
	const end = Date.now() + 60_000;
	const taskLimit = new TaskLimit(() => end, new AbortController().signal);
	const sender = new CreationSender(openRun(call), `account ${runs++}`, {
		requests: 0,
		taskLimit,
	});
	const create = async (index: number) => {
		const before = count();
		const item = { index, call, service, settings: { timeoutSeconds: 5 } } as unknown as Item;
		const request = { model: 'a/b', input: {}, given: '' };
		const creation = sender.create({ item, request, attempts: 0 });
		await jest.advanceTimersByTimeAsync(120_000);
		const error = await creation;
		return { error, sent: count() - before };
	};
	return [await create(0), await create(1)] as const;
}

async function getError(answer: Answer): Promise<ServiceError> {
	const { service } = serviceThat(answer);
	const record = service.getTaskRecord('task', { timeoutSeconds: 5 });
	return await record.then(
		() => {
			throw new Error('There is a record');
		},
		(error: ServiceError) => error,
	);
}

function expectVerdict(verdict: Verdict, outcome: Awaited<ReturnType<typeof createTwo>>) {
	const [first, second] = outcome;
	const error = first.error as Error;
	expect({
		certain: !(error instanceof UnknownOutcomeError),
		waits: first.sent > 1,
		endsRun: second.sent === 0,
		words: verdict.words.test(error.message) || error.message,
	}).toEqual({
		certain: verdict.certain ?? false,
		waits: verdict.waits ?? false,
		endsRun: verdict.endsRun ?? false,
		words: true,
	});
}

beforeAll(() => jest.useFakeTimers());
afterAll(() => jest.useRealTimers());

const CODES: Array<[name: Name, codes: number[]]> = [
	['token', [401]],
	['credits', [402, 433]],
	['turnedAway', [403, 405]],
	['notFound', [404]],
	['input', [400, 422]],
	['size', [413]],
	['rate', [429]],
	['maintenance', [455]],
	['generation', [501]],
	['fault', [408, 500, 502, 503, 504, 520, 599]],
	['other', [0, 201, 406, 409, 410, 418, 430, 451, 499, 505, -1]],
];

const rows = CODES.flatMap(([name, codes]) => codes.map((code) => [code, name] as const));
const isStatus = (code: number) => code >= 400 && code <= 599;

describe.each(rows)('code %d is a failure of the kind %s', (code, name) => {
	const verdict: Verdict = VERDICTS[name];
	const uncertain = { ...verdict, certain: false, endsRun: false, waits: false };

	it('in the envelope of a success by HTTP', async () => {
		for (const status of [200, 201, 299]) {
			expectVerdict(verdict, await createTwo([status, say(code)]));
		}
	});

	it('as HTTP status, with the envelope and with a page', async () => {
		if (!isStatus(code)) return expect(rows).toContainEqual([code, 'other']);
		expectVerdict(verdict, await createTwo([code, say(code)]));
		expectVerdict(verdict, await createTwo([code, PAGE]));
		expectVerdict(verdict, await createTwo([code, say(200)]));
	});

	it('in the envelope behind another HTTP status, which decides if nothing was done', async () => {
		for (const status of [408, 500, 501, 505, 410].filter((one) => one !== code))
			expectVerdict(uncertain, await createTwo([status, say(code)]));
		for (const status of [400, 404, 422, 429, 455].filter((one) => one !== code))
			expectVerdict(verdict, await createTwo([status, say(code)]));
	});

	it('with what follows from it as facts, and words for people', async () => {
		const { service } = serviceThat([200, say(code, 'Some words')]);
		const credits = service.getCredits({ timeoutSeconds: 5 });
		const { certain = false, endsRun = false, passes = false, words } = verdict;
		await expect(credits).rejects.toMatchObject({
			kind: name,
			code,
			answeredBy: 'service',
			certain,
			endsRun,
			passes,
			message: expect.stringMatching(words) as string,
			description: expect.stringMatching(/\.$/) as string,
		});
		await expect(credits).rejects.toThrow(`(${code}: Some words)`);
	});

	it('for which the details say whether to ask again', async () => {
		const isUnknownTask = code === 404 || code === 422;
		const later = verdict.passes ? 'down' : 'unreadable';
		expect(judgeFailure(await getError([200, say(code)])).outcome).toBe(
			isUnknownTask ? 'unknown' : later,
		);
		if (isStatus(code)) expect(judgeFailure(await getError([code, PAGE])).outcome).toBe(later);
	});
});

const LOST = (code: string, syscall = '') => Object.assign(new Error(code), { code, syscall });

it.each<[Name, Answer[]]>([
	['plainRedirect', [301, 302, 307, 308].map((status): Answer => [status, PAGE])],
	['redirect', [300, 303, 304, 305, 399].map((status): Answer => [status, PAGE])],
	[
		'redirect',
		[
			[303, say(401)],
			[300, say(200, '', { taskId: 'task' })],
		],
	],
	['plainRedirect', [[302, say(500)]]],
	[
		'unreadable',
		[
			[200, PAGE],
			[200, ''],
			[201, { status: 'ok' }],
			[200, say(200)],
			[200, say(200, 'success', { taskId: 'a\nb' })],
		],
	],
	['unreachable', [LOST('ECONNREFUSED'), LOST('ENOTFOUND'), LOST('EHOSTUNREACH', 'connect')]],
	[
		'unreachable',
		[LOST('CERT_HAS_EXPIRED'), Object.assign(new Error(), { name: 'SsrfBlockedIpError' })],
	],
	['lost', [LOST('ECONNRESET'), LOST('ETIMEDOUT'), LOST('EHOSTUNREACH', 'read')]],
])('a creation without a code of its own is a failure of the kind %s', async (name, answers) => {
	for (const answer of answers) expectVerdict(VERDICTS[name], await createTwo(answer));
});

it.each<[Name, Answer]>([
	['redirect', [302, PAGE]],
	['unreadable', [200, PAGE]],
	['unreadable', [200, say(200, '', {})]],
	['lost', [200, say(200, '', { taskId: 'another', state: 'success' })]],
	['unreachable', LOST('ECONNREFUSED')],
	['lost', LOST('ECONNRESET')],
])('details without a code of their own are a failure of the kind %s', async (name, answer) => {
	const error = await getError(answer);
	const { words, passes = false }: Verdict = VERDICTS[name];
	expect(error.message).toMatch(words);
	expect(judgeFailure(error).outcome).toBe(passes ? 'down' : 'unreadable');
});

const TEXTS: Array<[kind: Name, code: number, texts: string[]]> = [
	['credits', 405, ['Insufficient credits', 'Your balance is too low']],
	['credits', 429, ['Insufficient credits', 'Insufficient credits for running this model']],
	['credits', 430, ['No credit left']],
	['rate', 405, ['Call frequency too high', 'too frequent']],
	[
		'tasksAtOnce',
		429,
		[
			'The number of concurrent tasks has reached its limit. Please wait for a task to end.',
			'Concurrency limit exceeded',
			'Too many running tasks',
			'You have too many tasks in progress',
			'parallel task over resource pack limit',
			'No more than 5 tasks at once',
		],
	],
	['tasksAtOnce', 405, ['Too many unfinished tasks']],
	['tasksAtOnce', 430, ['Your credits allow 2 concurrent tasks']],
	['fault', 500, ['Too many concurrent tasks', 'Failed to start one of the concurrent tasks']],
	['rate', 429, ['Too many requests', 'Too many tasks per minute', 'Too many requests at once']],
	['rate', 429, ['Your calls come too fast. Please try again later.']],
	['rate', 430, ['Rate limit exceeded', 'rate-limited', 'ratelimit']],
	['turnedAway', 405, ['Method not allowed']],
	['other', 430, ['It could not be generated', 'the integrated separator failed']],
	[
		'input',
		500,
		['This field is required', 'This size is not within the range of allowed options'],
	],
	['input', 500, ['size is required', 'image_urls[0].url cannot be empty.']],
	[
		'input',
		500,
		[
			'Image fetch failed. Check access settings or use our File Upload API instead.',
			'image_urls file type not supported',
			'File type not supported.',
			'The text length cannot exceed the maximum limit',
			'prompt length exceeds the maximum length.',
		],
	],
	[
		'fault',
		500,
		[
			'Image fetch failed after the task was created',
			'file type not supported by the model that was chosen: try again later',
			'The text length cannot exceed the maximum limit, unless a task exists',
		],
	],
	['credits', 500, ['Credits insufficient', 'credits insufficient.']],
	['fault', 500, ['Internal Server Error', 'Server exception, try again later']],
	['fault', 500, ['The task was created, but prompt is required', `${'x'.repeat(9_000)} is`]],
	['input', 422, ['The rate limit of 30 fps is exceeded', 'Too many credits in the input']],
	['credits', 433, ['Rate limit of the key']],
	['token', 401, ['Too many requests']],
	['other', 418, ['Insufficient credits', 'rate limit']],
];

it.each(TEXTS)(
	'the kind is %s for the code %d of the service with one of %j',
	async (name, code, texts) => {
		for (const text of texts)
			expectVerdict(VERDICTS[name], await createTwo([200, say(code, text)]));
	},
);

it.each(['This field is required', 'Credits insufficient', 'File type not supported'])(
	'a text of code 500 decides nothing behind HTTP 500: %s',
	async (text) => expectVerdict(VERDICTS.fault, await createTwo([500, say(500, text)])),
);

it('our own words decide nothing', async () => {
	const page = await createTwo([200, 'rate limit, credits, is required']);
	expectVerdict(VERDICTS.unreadable, page);
});
