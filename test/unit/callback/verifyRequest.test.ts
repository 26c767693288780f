import crypto from 'crypto';
import fc from 'fast-check';
import { signHeaders } from '../../../dev/service/signHeaders.cts';
import { REFUSALS } from '../../../nodes/MediaGeneration/callback/refusals';
import { sign } from '../../../nodes/MediaGeneration/callback/scheme';
import type { VerifyOptions } from '../../../nodes/MediaGeneration/callback/verify';
import { verifyRequest } from '../../../nodes/MediaGeneration/callback/webhook';
import { buildWebhook } from '../n8n';

jest.mock('../../../nodes/MediaGeneration/callback/scheme', () => {
	const actual = jest.requireActual<{ sign: typeof sign }>(
		'../../../nodes/MediaGeneration/callback/scheme',
	);
	return { ...actual, sign: jest.fn(actual.sign) };
});

const seconds = 1_763_640_000;
const taskId = 'task';
const KEY = 'a-key';
const OLD = 'old';

const SIGNED: VerifyOptions = { signed: true };
const ANYONE: VerifyOptions = { signed: false };
/** As a run that sleeps has it. */
const IF_KEY: VerifyOptions = { signed: 'ifKey', unsignedType: 'nudge' };

jest.useFakeTimers({ now: seconds * 1_000 });

let nodes = 0;

/** Begins a node. It notes how often its credential is read, and its lines in the log. */
function newNode(credential: object = { webhookSecret: KEY, previousWebhookSecret: OLD }) {
	const node = { reads: 0, lines: [] as string[] };
	const id = `node-${nodes++}`;
	const more = {
		logger: { warn: (line: string) => node.lines.push(line) },
		getNode: () => ({ id, name: 'Node' }),
		getCredentials: async () => ({ ...credential, read: ++node.reads }),
	};
	const receive = async (
		options: VerifyOptions,
		headers: object = {},
		body: unknown = { data: { task_id: taskId } },
	) => {
		const given = { headers: headers as Record<string, string>, body: body as object };
		return await verifyRequest(buildWebhook({ taskId, ...given, more }), options);
	};
	return { node, receive };
}

/** The headers of a callback, rightly signed for this time. */
const at = (timestamp: string | number = seconds, key = KEY, task_id = taskId) =>
	signHeaders({ data: { task_id } }, key, timestamp);
const good = at();
const base64 = good['x-webhook-signature'];
const as = (signature: string) => ({ ...good, 'x-webhook-signature': signature });
const id = (task_id: unknown) => ({ data: { task_id } });
const record = (more: object = {}) => ({ code: 200, data: { taskId, state: 'success', ...more } });
const nest = (levels: number): unknown => (levels ? { deeper: nest(levels - 1) } : 'end');
const long = '1234567890123456789';

it.each<[string, object, unknown, string?]>([
	[
		'as the contract has it',
		good,
		{ taskId, code: 200, msg: 'success', data: { task_id: taskId } },
	],
	['with a record in data, as services send it', good, record()],
	['with a number in data', at(seconds, KEY, '123'), id(123), '123'],
	['with a rounded one', at(seconds, KEY, long), { taskId: Number(long), ...id(long) }, long],
	['as late as is allowed', at(seconds - 300), id(taskId)],
	['as deep as is allowed', good, { ...id(taskId), more: nest(63) }],
	['as JSON in capitals', { ...good, 'content-type': 'Application/JSON; a' }, id(taskId)],
])('a signed callback counts %s', async (_, headers, body, own = taskId) => {
	const { node, receive } = newNode();
	const callback = await receive(SIGNED, headers, body);
	expect(callback).toMatchObject({ taskId: own, signedBy: 'current', body });
	const read = 'readCredentials' in callback && (await callback.readCredentials());
	expect(read).toMatchObject({ webhookSecret: KEY });
	expect(node).toEqual({ reads: 1, lines: [] });
});

/** One sister service documents exactly this, unsigned. */
const atTop = { taskId, state: 'fail' };
const stale = at(seconds - 301);
it.each<[number, keyof typeof REFUSALS, string, object, unknown?]>([
	[401, 'headerMissing', 'no headers, and no ID', {}, {}],
	[401, 'headerMissing', 'no signature', { 'x-webhook-timestamp': String(seconds) }],
	[401, 'timestampMalformed', 'a time that a proxy joins', at(`${seconds}, ${seconds}`)],
	[401, 'timestampStale', 'a time too long ago', stale],
	[401, 'timestampStale', 'a time too far ahead', at(seconds + 301)],
	[401, 'signatureWrong', 'one that a proxy joins', as(`${base64}, ${base64}`)],
	[400, 'bodyNotAnObject', 'a list', good, [id(taskId)]],
	[
		400,
		'bodyNotAnObject',
		'JSON as another type',
		{ ...good, 'content-type': 'application/jsonx' },
	],
	[400, 'bodyTooDeep', 'one level too many', good, { ...id(taskId), more: nest(64) }],
	[400, 'taskIdMissing', 'a stale timestamp, and no data', stale, { code: 200 }],
	[400, 'taskIdMissing', 'an ID at the top alone', good, atTop],
	[400, 'taskIdMissing', 'a blank ID beside a record', good, record({ task_id: '' })],
	[400, 'taskIdMalformed', '257 characters', good, id('x'.repeat(257))],
	[400, 'taskIdMalformed', 'half a character', at(seconds, KEY, 'a\ud800'), id('a\ud800')],
	[400, 'taskIdMalformed', 'a dot, which a URL resolves', at(seconds, KEY, '.'), id('.')],
	[400, 'taskIdContradictory', 'a record of another task', good, record({ task_id: 'another' })],
	[400, 'taskIdContradictory', 'another ID at the top', good, { ...record(), taskId: 'another' }],
])('%d %s for %s: no key is read', async (status, reason, _, headers, ...body) => {
	const { node, receive } = newNode();
	expect(await receive(SIGNED, headers, ...body)).toMatchObject({ reason });
	expect(REFUSALS[reason][0]).toBe(status);
	expect(node.reads).toBe(0);
});

it.each<[string, object, unknown?]>([
	['outside ASCII', as(`${'é'.repeat(43)}=`)],
	['of another task', good, id('another')],
	['of another time', { ...good, 'x-webhook-timestamp': String(seconds + 1) }],
])('a signature %s is wrong', async (_, headers, ...body) => {
	const { receive } = newNode();
	expect(await receive(SIGNED, headers, ...body)).toEqual({ reason: 'signatureWrong' });
	expect(REFUSALS.signatureWrong[0]).toBe(401);
});

it('a stale callback says by how much the clocks differ, and with a tolerance of 0 none is stale', async () => {
	const { receive } = newNode();
	const refused = { reason: 'timestampStale', cause: '3600 s behind the clock here' };
	expect(await receive(SIGNED, at(seconds - 3_600))).toEqual(refused);
	const options = { ...SIGNED, toleranceSeconds: 0 };
	expect(await receive(options, at(1))).toMatchObject({ signedBy: 'current' });
});

/** Made with: printf '%s' 'task-8f3b.1763640000' | openssl dgst -sha256 -hmac 'whk_test_key' -binary | base64 */
const VECTOR = 'aN+CwMkHbTQne8Za8G9tSIjsQvciU5vyjlIeMDx/Zio=';
it('a signature is the Base64 of HMAC-SHA256 over ID, period and timestamp, compared in constant time', async () => {
	const { receive } = newNode({ webhookSecret: 'whk_test_key', previousWebhookSecret: OLD });
	const compare = jest.spyOn(crypto, 'timingSafeEqual');
	const send = async (signature: string) => await receive(SIGNED, as(signature), id('task-8f3b'));
	expect(await send(VECTOR)).toMatchObject({ signedBy: 'current' });
	expect(await send(`b${VECTOR.slice(1)}`)).toEqual({ reason: 'signatureWrong' });
	expect(compare.mock.calls.map(([one]) => one.byteLength)).toEqual([44, 44, 44, 44]);
});

it("another scheme may sign the body's bytes, and has no signature by some keys", async () => {
	const { receive } = newNode({ webhookSecret: KEY });
	expect(await receive(SIGNED, good)).toMatchObject({ signedBy: 'current' });
	const content = { taskId, bytes: Buffer.from(JSON.stringify(id(taskId))) };
	expect(sign).toHaveBeenLastCalledWith(expect.anything(), content, KEY);
	jest.mocked(sign).mockReturnValueOnce(undefined);
	expect(await receive(SIGNED, good)).toEqual({ reason: 'signatureWrong' });
});

it.each(['', '\u00a0', '\u2800', '\u3164'])(
	'%j is no key, though everyone could sign with it',
	async (blank) => {
		const forged = at(seconds, blank);
		const one = newNode({ webhookSecret: blank, previousWebhookSecret: OLD });
		expect(await one.receive(SIGNED, forged)).toEqual({ reason: 'keyMissing' });
		const other = newNode({ webhookSecret: KEY, previousWebhookSecret: blank });
		expect(await other.receive(SIGNED, forged)).toEqual({ reason: 'signatureWrong' });
	},
);

const NO_KEY = {};
const hasFailed = { signedBy: 'off', claim: { status: 'failed' } };
const nudge = { data: { task_id: taskId, callbackType: 'nudge' } };
it.each<[string, VerifyOptions, object | undefined, object, unknown, object]>([
	['need not be signed', ANYONE, undefined, {}, undefined, { signedBy: 'off' }],
	['sleeps without a key', IF_KEY, NO_KEY, stale, undefined, { signedBy: 'off' }],
	['sleeps with one, unsigned', IF_KEY, undefined, {}, undefined, { reason: 'headerMissing' }],
	['sleeps with one, stale', IF_KEY, undefined, stale, undefined, { reason: 'timestampStale' }],
	['sleeps, and is nudged', IF_KEY, undefined, at(seconds, 'x'), nudge, { signedBy: 'off' }],
	[
		'is the trigger, and is nudged',
		SIGNED,
		undefined,
		as('x'),
		nudge,
		{ reason: 'signatureWrong' },
	],
	['is not, with its ID at the top', ANYONE, undefined, {}, atTop, { taskId, ...hasFailed }],
	['sleeps without a key, so too', IF_KEY, NO_KEY, {}, atTop, { taskId, ...hasFailed }],
	['sleeps with one, so too', IF_KEY, undefined, good, atTop, { reason: 'taskIdMissing' }],
	['sleeps, and gets garbage', IF_KEY, undefined, {}, [], { reason: 'bodyNotAnObject' }],
	['needs a key, and has none', SIGNED, NO_KEY, good, undefined, { reason: 'keyMissing' }],
])('whether a signature is needed: %s', async (_, options, credential, headers, body, expected) => {
	const { node, receive } = newNode(credential);
	expect(await receive(options, headers, body)).toMatchObject(expected);
	// At the limit, a run is nudged whose credential may be gone.
	if (body === nudge || Array.isArray(body)) expect(node.reads).toBe(0);
});

it.each<[string, VerifyOptions, number]>([
	[OLD, SIGNED, 1],
	[OLD, ANYONE, 0],
	[KEY, SIGNED, 0],
])(
	'callbacks signed with %s, by %j, are worth %d lines in the log',
	async (key, options, count) => {
		const { node, receive } = newNode();
		for (let time = 0; time < 2; time++) await receive(options, at(seconds, key));
		const line = expect.stringMatching(/^"Node" .*'Previous Webhook HMAC Key'.*Clear/) as string;
		expect(node.lines).toEqual(Array(count).fill(line));
	},
);

it.each<[string, number | string, object, string]>([
	['a failed task, whatever the code', 200, { callbackType: 'TASK_FAILED' }, 'failed'],
	['a record, not its type', 501, { state: 'success', callbackType: 'fail' }, 'completed'],
	['a code other than 200 alone', 501, {}, 'failed'],
	['the first part', '200', { callbackType: 'First', state: 'success' }, 'pending'],
	['other than a part', 200, { callbackType: 'full_text' }, 'completed'],
	['an unknown state with a code of failure', 501, { state: 'polished' }, 'failed'],
])('the claimed status is read of %s', async (_, code, data, status) => {
	const body = { code, data: { task_id: taskId, ...data } };
	const { callbackType: type } = data as { callbackType?: unknown };
	expect(await newNode().receive(SIGNED, good, body)).toMatchObject({ claim: { status, type } });
});

it('genuine headers count for their task alone, whatever the body', async () => {
	const { receive } = newNode();
	const some = fc.oneof(fc.constant(taskId), fc.string(), fc.anything());
	const bodies = fc.record({ taskId: some, data: fc.record({ task_id: some, taskId: some }) });
	const property = fc.asyncProperty(bodies, async (body) => {
		const callback = await receive(SIGNED, good, body);
		expect('reason' in callback || callback.taskId === taskId).toBe(true);
	});
	await fc.assert(property);
});
