import fc from 'fast-check';
import { UserError } from 'n8n-workflow';
import type { TaskService } from '../../../nodes/MediaGeneration/api/client';
import { ServiceError } from '../../../nodes/MediaGeneration/api/failure';
import { endpoints, TASK_ID } from './endpointRows';
import { credentials, openService, SETTINGS, stream } from './service';

/** Whatever a service says, nothing but our own errors comes of it, and no secret. */

const RESUME_TOKEN = '7d0c6f0f9f2e4f6b8a1c3e5d7f9b1d3f';
const CALLBACK_URL = `https://n8n.example/webhook-waiting/17/wait?signature=${RESUME_TOKEN}`;
const account = {
	...credentials,
	accessToken: 'pk/token+of=the&account',
	webhookSecret: 'the "hmac" key',
};
const SECRETS = [account.accessToken, account.webhookSecret, RESUME_TOKEN];
const REQUEST = { model: 'a/b', callBackUrl: CALLBACK_URL, input: { prompt: 'Night' } };

type Ask = (service: TaskService) => Promise<unknown>;
const create: Ask = async (service) => await service.createTask(REQUEST, SETTINGS);

const asJson = (text: string) => JSON.stringify(text).slice(1, -1);

/** A text that may repeat a secret. */
const leak = fc
	.tuple(
		fc.constantFrom(...SECRETS, CALLBACK_URL),
		fc.constantFrom<(text: string) => string>(String, encodeURIComponent, asJson),
		fc.string(),
	)
	.map(([secret, write, around]) => `${around} ${write(secret)} ${around}`);

const value = fc.oneof(
	leak,
	fc.jsonValue(),
	fc.string({ unit: 'binary' }),
	fc.constantFrom<unknown>(
		'x'.repeat(100_000),
		JSON.stringify(endpoints.taskDetailsPath.data),
		JSON.parse('['.repeat(70) + ']'.repeat(70)),
		JSON.parse('{"__proto__":{"code":200},"constructor":null}'),
	),
);

/** Replaces a part of a JSON value, somewhere in it. */
function mutate(whole: unknown, [turn = 0, ...turns]: number[], part: unknown): unknown {
	if (typeof whole !== 'object' || whole === null || turn === 0) return part;
	const names = Object.keys(whole);
	const name = names[turn % (names.length + 1)] ?? 'extra';
	const changed = mutate((whole as Record<string, unknown>)[name], turns, part);
	return Array.isArray(whole) ? [changed] : { ...whole, [name]: changed };
}

const mutation = fc.tuple(fc.array(fc.nat(12), { minLength: 1, maxLength: 5 }), value);
const mostly = <T,>(usual: T, ...others: T[]) =>
	fc.oneof({ weight: 5, arbitrary: fc.constant(usual) }, fc.constantFrom(...others));

interface Said {
	status: number;
	text: string;
	/** The connection breaks off after the text. */
	breaks: boolean;
}

/** An answer: a genuine one, changed in places, cut off or spoiled; or anything. */
function answerLike(data: unknown): fc.Arbitrary<Said> {
	const genuine = fc
		.record({
			changes: fc.array(mutation, { maxLength: 3 }),
			code: mostly(200, 408, 422, 500, 501),
			msg: fc.option(leak, { nil: 'success' }),
		})
		.map(({ changes, ...envelope }) => {
			const change = (whole: unknown, [turns, part]: [number[], unknown]) =>
				mutate(whole, turns, part);
			return JSON.stringify(changes.reduce(change, { ...envelope, data }));
		});
	const cut = fc
		.tuple(genuine, fc.double({ min: 0, max: 1, noNaN: true }), fc.string())
		.map(([text, at, more]) => text.slice(0, Math.floor(at * text.length)) + more);
	return fc.record({
		status: mostly(200, 201, 302, 404, 422, 500),
		text: fc.oneof(
			{ weight: 8, arbitrary: genuine },
			{ weight: 2, arbitrary: cut },
			fc.string(),
			leak,
		),
		breaks: mostly(false, true),
	});
}

let accounts = 0;

/** Says what came of asking: the result, or the error. The service has called a webhook with the resume URL. */
async function settle(ask: Ask, { status, text, breaks }: Said) {
	const chunks = breaks ? [text, new Error('aborted')] : [text];
	const more = { runExecutionData: { resumeToken: RESUME_TOKEN } };
	// Reads of one account would wait for each other.
	const own = { ...account, baseUrl: `https://${accounts++}.example` };
	try {
		return { result: await ask(openService([status, stream(...chunks)], own, more).service) };
	} catch (error) {
		if (!(error instanceof UserError)) throw error;
		expect(error.message).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
		expect(error.message.length).toBeLessThan(1_500);
		return { error };
	}
}

const WRITINGS = SECRETS.flatMap((secret) => [secret, encodeURIComponent(secret), asJson(secret)]);

it.each(
	Object.entries({ ...endpoints, createTaskPath: { ask: create, data: { taskId: TASK_ID } } }),
)(
	'%s ends with a result or an error of ours, soon, and without a secret',
	async (name, { ask, data }) => {
		let results = 0;
		await fc.assert(
			fc.asyncProperty(answerLike(data), async (answer) => {
				const { result, error } = await settle(ask, answer);
				const shown = JSON.stringify([result, error?.message, error?.description, { ...error }]);
				for (const writing of WRITINGS) expect(shown).not.toContain(writing);
				if (!result) return;
				results++;
				if (name === 'taskDetailsPath') expect(result).toHaveProperty('taskId', TASK_ID);
			}),
			{ numRuns: 150 },
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
	let named = 0;
	await fc.assert(
		fc.asyncProperty(answerLike({ taskId: TASK_ID }), async (answer) => {
			const taskId = findNamedTask(answer.text);
			if (!taskId) return;
			named++;
			const { result, error } = await settle(create, answer);
			const known = error instanceof ServiceError ? error.facts.unknown?.taskId : result;
			expect(known).toBe(taskId);
		}),
		{ numRuns: 300 },
	);
	expect(named).toBeGreaterThan(0);
});
