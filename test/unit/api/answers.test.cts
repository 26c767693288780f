import fc from 'fast-check';
import { UserError, type IExecuteFunctions } from 'n8n-workflow';
import { Readable } from 'node:stream';
import { TaskService } from '../../../nodes/MediaGeneration/api/client';
import { ServiceError } from '../../../nodes/MediaGeneration/api/failure';
import { fake } from '../n8n';

// Turns of look-ups take time, and have a test of their own.
jest.mock('../../../nodes/MediaGeneration/lib/rateLimiter', () => ({
	RateLimiters: class {
		of = () => ({ join: () => async (request: () => Promise<unknown>) => await request() });
	},
}));

/** Whatever a service says, nothing but our own errors comes of it, and no secret. */

const RESUME_TOKEN = '7d0c6f0f9f2e4f6b8a1c3e5d7f9b1d3f';
const CALLBACK_URL = `https://n8n.example/webhook-waiting/17/wait?signature=${RESUME_TOKEN}`;
const credentials = {
	baseUrl: 'https://api.example.com',
	accessToken: 'pk/token+of=the&account',
	webhookSecret: 'the-webhook-hmac-key',
	previousWebhookSecret: 'the-old-webhook-hmac-key',
};
const SECRETS = [
	credentials.accessToken,
	credentials.webhookSecret,
	credentials.previousWebhookSecret,
	RESUME_TOKEN,
];
const SETTINGS = { timeoutSeconds: 5 };
const TASK_ID = '5f2c9c1e';
const LINK = 'https://cdn.example/a.png';

const REQUEST = {
	model: 'beta2/image-edit',
	callBackUrl: CALLBACK_URL,
	input: { prompt: 'Night' },
};

const record = {
	taskId: TASK_ID,
	model: 'beta2/image-edit',
	state: 'success',
	param: JSON.stringify(REQUEST),
	resultJson: JSON.stringify({ resultUrls: [LINK], firstFrameUrl: LINK }),
	failCode: '',
	failMsg: '',
	costTime: 12_000,
	createTime: 1_763_640_000_000,
	completeTime: 1_763_640_012_000,
	creditsConsumed: 12.5,
	response: { data: [{ audio_url: LINK, image_url: LINK }] },
};

type Ask = (service: TaskService) => Promise<unknown>;

const FILE = { size: 0, mimeType: 'image/png', chunks: [] };
const MODEL = { model: 'a/b', title: 'A', taskType: ['Chat'], pricingDesc: null };

/** What is asked of a service, and the `data` of a genuine answer. */
const questions: Record<string, [ask: Ask, data: unknown]> = {
	create: [async (service) => await service.createTask(REQUEST, SETTINGS), { taskId: TASK_ID }],
	get: [async (service) => await service.getTask(TASK_ID, SETTINGS), record],
	upload: [
		async (service) => await service.upload('a.png', FILE, SETTINGS),
		{ fileName: 'a.png', downloadUrl: LINK, fileSize: 5, mimeType: 'image/png' },
	],
	list: [async (service) => await service.listModels(SETTINGS), { total: 1, models: [MODEL] }],
	link: [async (service) => await service.getDownloadUrl(LINK, SETTINGS), LINK],
};

/** A text that may repeat a secret. */
const leak = fc
	.tuple(
		fc.constantFrom(...SECRETS, CALLBACK_URL),
		fc.constantFrom<(text: string) => string>(
			(text) => text,
			encodeURIComponent,
			(text) => JSON.stringify(text),
		),
		fc.string(),
	)
	.map(([secret, write, around]) => `${around} ${write(secret)} ${around}`);

const value = fc.oneof(
	leak,
	fc.jsonValue(),
	fc.string({ unit: 'binary' }),
	fc.constantFrom<unknown>(
		'x'.repeat(100_000),
		'a\r\n\u0000\u2028b',
		JSON.stringify(record),
		JSON.parse('['.repeat(70) + ']'.repeat(70)),
		JSON.parse('{"__proto__":{"code":200},"constructor":null}'),
		501,
	),
);

/** Replaces parts of a JSON value, somewhere in it. */
function mutate(whole: unknown, [turn = 0, ...turns]: number[], part: unknown): unknown {
	if (typeof whole !== 'object' || whole === null || turn === 0) return part;
	const names = Object.keys(whole);
	const name = names[turn % (names.length + 1)] ?? 'extra';
	const changed = mutate((whole as Record<string, unknown>)[name], turns, part);
	if (Array.isArray(whole))
		return whole.map((one: unknown, i) => (String(i) === name ? changed : one));
	return { ...whole, [name]: changed };
}

const mutation = fc.tuple(fc.array(fc.nat(12), { minLength: 1, maxLength: 5 }), value);
const mostly = <T,>(usual: T, ...others: T[]) =>
	fc.oneof({ weight: 5, arbitrary: fc.constant(usual) }, fc.constantFrom(...others));

/** An answer: a genuine one, changed in places, cut off or spoiled; or anything. */
function answerLike(data: unknown): fc.Arbitrary<Answer> {
	const genuine = fc
		.record({
			changes: fc.array(mutation, { maxLength: 3 }),
			code: mostly(200, 408, 422, 429, 500, 501),
			msg: fc.option(leak, { nil: 'success' }),
		})
		.map(({ changes, ...envelope }) =>
			JSON.stringify(
				changes.reduce<unknown>((whole, [turns, part]) => mutate(whole, turns, part), {
					...envelope,
					data,
				}),
			),
		);
	const cut = fc
		.tuple(genuine, fc.double({ min: 0, max: 1, noNaN: true }), fc.string())
		.map(([text, at, more]) => text.slice(0, Math.floor(at * text.length)) + more);
	return fc.record({
		statusCode: mostly(200, 201, 302, 401, 404, 422, 429, 500, 501),
		text: fc.oneof(
			{ weight: 8, arbitrary: genuine },
			{ weight: 2, arbitrary: cut },
			fc.json(),
			fc.string(),
			leak,
		),
		breaks: mostly(false, true),
	});
}

interface Answer {
	statusCode: number;
	text: string;
	/** The connection breaks off after the text. */
	breaks: boolean;
}

async function* streamInChunks(text: string, breaks: boolean) {
	const bytes = Buffer.from(text);
	for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
	if (breaks) throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
}

/** A service that gives this answer. It has called a webhook with the resume URL. */
function serviceThat({ statusCode, text, breaks }: Answer) {
	const context = fake<IExecuteFunctions>({
		runExecutionData: { resumeToken: RESUME_TOKEN },
		helpers: {
			httpRequestWithAuthentication: async () => ({
				statusCode,
				body: Readable.from(streamInChunks(text, breaks)),
			}),
		},
	});
	return new TaskService(context, credentials);
}

/** Says what came of asking: the result, or the error with all that is shown of it. */
async function settle(ask: () => Promise<unknown>) {
	try {
		return { result: await ask() };
	} catch (error) {
		if (!(error instanceof UserError)) throw error;
		expect(error.message).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
		expect(error.message.length).toBeLessThan(1_500);
		return { error };
	}
}

const describeOutcome = ({ result, error }: { result?: unknown; error?: UserError }) =>
	JSON.stringify([result, error?.message, error?.description, error && { ...error }]) ?? '';

const WRITINGS = SECRETS.flatMap((secret) => [
	secret,
	encodeURIComponent(secret),
	JSON.stringify(secret).slice(1, -1),
]).map((text) => text.toLowerCase());

function expectNoSecret(shown: string) {
	const text = shown.toLowerCase();
	for (const writing of WRITINGS) expect(text).not.toContain(writing);
}

const RUNS = { numRuns: 300 };

it.each(Object.entries(questions))(
	'%s ends with a result or an error of ours, soon, and without a secret',
	async (name, [ask, data]) => {
		let results = 0;
		await fc.assert(
			fc.asyncProperty(answerLike(data), async (answer) => {
				const outcome = await settle(async () => await ask(serviceThat(answer)));
				expectNoSecret(describeOutcome(outcome));
				if (!outcome.result) return;
				results++;
				if (name.startsWith('get')) expect(outcome.result).toHaveProperty('taskId', TASK_ID);
			}),
			RUNS,
		);
		expect(results).toBeGreaterThan(0);
	},
);

/** Reads the ID of a created task as nobody could miss it. */
function findNamedTask(text: string): string | undefined {
	try {
		const { data } = JSON.parse(text) as { data?: { taskId?: unknown } };
		return data?.taskId === TASK_ID ? TASK_ID : undefined;
	} catch {
		return text.includes(`"taskId":"${TASK_ID}"`) ? TASK_ID : undefined;
	}
}

it('the ID of a created task comes out, whatever is wrong with the answer', async () => {
	const [ask, data] = questions.create as (typeof questions)[string];
	let named = 0;
	await fc.assert(
		fc.asyncProperty(answerLike(data), async (answer) => {
			const taskId = findNamedTask(answer.text);
			if (!taskId) return;
			named++;
			const { result, error } = await settle(async () => await ask(serviceThat(answer)));
			const known = error instanceof ServiceError ? error.facts.outcome?.taskId : result;
			expect(known).toBe(taskId);
		}),
		RUNS,
	);
	expect(named).toBeGreaterThan(0);
});
