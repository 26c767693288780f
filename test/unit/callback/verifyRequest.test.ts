import crypto from 'crypto';
import fc from 'fast-check';
import { signHeaders } from '../../../dev/service/signHeaders.cts';
import { REFUSALS, type Refused } from '../../../nodes/MediaGeneration/callback/refusals';
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
const IF_KEY: VerifyOptions = { signed: 'ifKey' };

jest.useFakeTimers({ now: seconds * 1_000 });

const id = (task_id: unknown) => ({ data: { task_id } });
const record = (more: object = {}) => ({ code: 200, data: { taskId, state: 'success', ...more } });
const nest = (levels: number): unknown => (levels ? { deeper: nest(levels - 1) } : 'end');

/** How a callback differs from one that is signed for this time. */
interface Sent {
	body?: unknown;
	bytes?: Buffer;
	timestamp?: number | string;
	key?: string;
	/** Headers beside those of the signature. */
	headers?: object;
	/** The body that the headers are signed for, if it is another one. */
	signedFor?: object;
	isUnsigned?: boolean;
}

let nodes = 0;

/** Makes a node, which notes how often its credential is read, and its lines in the log. */
function newNode(credential: object = { webhookSecret: KEY, previousWebhookSecret: OLD }) {
	const node = { reads: 0, lines: [] as string[] };
	const name = `node-${nodes++}`;
	const more = { getCredentials: async () => ({ ...credential, read: ++node.reads }) };
	const receiver = {
		node: { id: name, name: 'Node' },
		log: (line: string) => void node.lines.push(line),
	};
	const receive = async (options: VerifyOptions, sent: Sent = {}) => {
		const { body = id(taskId), bytes = Buffer.from(JSON.stringify(body)) } = sent;
		const { timestamp = seconds, key = KEY, signedFor = bytes, isUnsigned = false } = sent;
		const signed = isUnsigned ? {} : signHeaders(signedFor, key, timestamp);
		const request = { body: body as object, bytes, headers: { ...signed, ...sent.headers } };
		return await verifyRequest(buildWebhook({ taskId, ...request, ...receiver, more }), options);
	};
	return { node, receive };
}

const long = '1234567890123456789';
const typed = (type: string) => ({ headers: { 'content-type': type } });

it.each<[string, Sent, string?]>([
	['as the contract has it', { body: { taskId, code: 200, msg: 'success', ...id(taskId) } }],
	['with a record in data, as services send it', { body: record() }],
	['with a number in data', { body: id(123) }, '123'],
	['with a number that JSON has rounded', { body: { taskId: Number(long), ...id(long) } }, long],
	['as late as is allowed', { timestamp: seconds - 300 }],
	['as deep as is allowed', { body: { ...id(taskId), more: nest(63) } }],
	['as JSON in capitals', typed('Application/JSON; a')],
])('a signed callback counts %s', async (_, sent, own = taskId) => {
	const { node, receive } = newNode();
	const callback = await receive(SIGNED, sent);
	expect(callback).toMatchObject({ taskId: own, signedBy: 'current' });
	if (sent.body) expect(callback).toMatchObject({ body: sent.body });
	const read = 'readCredentials' in callback && (await callback.readCredentials());
	expect(read).toMatchObject({ webhookSecret: KEY });
	expect(node).toEqual({ reads: 1, lines: [] });
});

/** One sister service documents exactly this, unsigned. */
const atTop = { taskId, state: 'fail' };
it.each<[number, Refused['reason'], string, Sent]>([
	[401, 'headerMissing', 'no headers, and no ID', { isUnsigned: true, body: {} }],
	[401, 'timestampMalformed', 'a time that a proxy joins', { timestamp: `${seconds}, ${seconds}` }],
	[401, 'timestampStale', 'a time too long ago', { timestamp: seconds - 301 }],
	[401, 'timestampStale', 'a time too far ahead', { timestamp: seconds + 301 }],
	[400, 'bodyNotAnObject', 'a list', { body: [id(taskId)] }],
	[400, 'bodyNotAnObject', 'JSON as another type', typed('application/jsonx')],
	[400, 'bodyTooDeep', 'one level too many', { body: { ...id(taskId), more: nest(64) } }],
	[400, 'taskIdMissing', 'no data, and a stale time', { body: { code: 200 }, timestamp: 1 }],
	[400, 'taskIdMissing', 'an ID at the top alone', { body: atTop }],
	[400, 'taskIdMissing', 'a blank ID beside a record', { body: record({ task_id: '' }) }],
	[400, 'taskIdMalformed', '257 characters', { body: id('x'.repeat(257)) }],
	[400, 'taskIdMalformed', 'half a character', { body: id('a\ud800') }],
	[400, 'taskIdMalformed', 'a line break, which a reference has', { body: id('reference\nx') }],
	[400, 'taskIdMalformed', 'a dot, which a URL resolves', { body: id('.') }],
	[400, 'taskIdContradictory', 'a record of another task', { body: record({ task_id: 'other' }) }],
	[400, 'taskIdContradictory', 'another ID at the top', { body: { ...record(), taskId: 'other' } }],
])('%d %s is the answer to %s, and no key is read', async (httpStatus, reason, _, sent) => {
	const { node, receive } = newNode();
	expect(await receive(SIGNED, sent)).toMatchObject({ reason });
	expect(REFUSALS[reason][0]).toBe(httpStatus);
	expect(node.reads).toBe(0);
});

it('a stale callback says by how much the clocks differ, and with a tolerance of 0 none is stale', async () => {
	const { receive } = newNode();
	const refusal = { reason: 'timestampStale', cause: '3600 s behind the clock here' };
	expect(await receive(SIGNED, { timestamp: seconds - 3_600 })).toEqual(refusal);
	const options = { ...SIGNED, toleranceSeconds: 0 };
	expect(await receive(options, { timestamp: 1 })).toMatchObject({ signedBy: 'current' });
});

it('both keys are compared in constant time, whichever made the signature', async () => {
	const { receive } = newNode();
	const compare = jest.spyOn(crypto, 'timingSafeEqual');
	for (const [key, signedBy] of [[KEY, 'current'], [OLD, 'previous'], ['wrong']] as const) {
		const expected = signedBy ? { signedBy } : { reason: 'signatureWrong' };
		expect(await receive(SIGNED, { key })).toMatchObject(expected);
		expect(compare).toHaveBeenCalledTimes(2);
		compare.mockClear();
	}
	const refusal = await receive(SIGNED, { signedFor: id('other') });
	expect(refusal).toEqual({ reason: 'signatureWrong' });
	expect(REFUSALS.signatureWrong[0]).toBe(401);
});

it('the bytes of the body are signed as they came, also if they are no UTF-8; some keys sign nothing', async () => {
	const { receive } = newNode({ webhookSecret: KEY });
	const bytes = Buffer.from(JSON.stringify({ ...id(taskId), more: 'ÿ' }), 'latin1');
	expect(await receive(SIGNED, { bytes })).toMatchObject({ signedBy: 'current' });
	expect(sign).toHaveBeenLastCalledWith(expect.anything(), { taskId, bytes }, KEY);
	jest.mocked(sign).mockReturnValueOnce(undefined);
	expect(await receive(SIGNED)).toEqual({ reason: 'signatureWrong' });
});

it.each(['', '\u00a0', '\u2800', '\u3164'])(
	'%j is no key, because everyone could sign with it',
	async (blank) => {
		const one = newNode({ webhookSecret: blank, previousWebhookSecret: OLD });
		expect(await one.receive(SIGNED, { key: blank })).toEqual({ reason: 'keyMissing' });
		const other = newNode({ webhookSecret: KEY, previousWebhookSecret: blank });
		expect(await other.receive(SIGNED, { key: blank })).toEqual({ reason: 'signatureWrong' });
	},
);

const NO_KEY = {};
const isOff = { signedBy: 'off' };
const hasFailed = { taskId, signedBy: 'off', claim: { status: 'failed' } };
const unsigned = { isUnsigned: true };
const stale = { timestamp: 1 };
const nudge = { key: 'x', body: { data: { task_id: taskId, callbackType: 'nudge' } } };
const garbage = { ...unsigned, body: [] };
it.each<[string, VerifyOptions, object | undefined, Sent, object]>([
	['that needs none takes an unsigned one', ANYONE, undefined, unsigned, isOff],
	['asleep without a key takes a stale one', IF_KEY, NO_KEY, stale, isOff],
	[
		'asleep with a key refuses an unsigned one',
		IF_KEY,
		undefined,
		unsigned,
		{ reason: 'headerMissing' },
	],
	['asleep with a key refuses a stale one', IF_KEY, undefined, stale, { reason: 'timestampStale' }],
	['asleep with a key takes a nudge', IF_KEY, undefined, nudge, isOff],
	['that is the trigger refuses a nudge', SIGNED, undefined, nudge, { reason: 'signatureWrong' }],
	[
		'that needs none takes an ID at the top',
		ANYONE,
		undefined,
		{ ...unsigned, body: atTop },
		hasFailed,
	],
	[
		'asleep without a key takes an ID at the top',
		IF_KEY,
		NO_KEY,
		{ ...unsigned, body: atTop },
		hasFailed,
	],
	[
		'asleep with a key refuses an ID at the top',
		IF_KEY,
		undefined,
		{ body: atTop },
		{ reason: 'taskIdMissing' },
	],
	['asleep with a key refuses garbage', IF_KEY, undefined, garbage, { reason: 'bodyNotAnObject' }],
	['that needs a key and has none refuses all', SIGNED, NO_KEY, {}, { reason: 'keyMissing' }],
])('of callbacks, a receiver %s', async (_, options, credential, sent, expected) => {
	const { node, receive } = newNode(credential);
	expect(await receive(options, sent)).toMatchObject(expected);
	// At the limit, a run is nudged whose credential may be gone.
	if (sent === nudge || sent === garbage) expect(node.reads).toBe(options === SIGNED ? 1 : 0);
});

it.each<[string, VerifyOptions, number]>([
	[OLD, SIGNED, 1],
	[OLD, ANYONE, 0],
	[KEY, SIGNED, 0],
])(
	'callbacks signed with the key %s, by %j, make %d lines in the log',
	async (key, options, count) => {
		const { node, receive } = newNode();
		for (let time = 0; time < 2; time++) await receive(options, { key });
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
	expect(await newNode().receive(SIGNED, { body })).toMatchObject({ claim: { status, type } });
});

it('genuine headers count for their task alone, whatever the body', async () => {
	const { receive } = newNode();
	const some = fc.oneof(fc.constant(taskId), fc.string(), fc.anything());
	const bodies = fc.record({ taskId: some, data: fc.record({ task_id: some, taskId: some }) });
	const property = fc.asyncProperty(bodies, async (body) => {
		const bytes = Buffer.from('{}');
		const callback = await receive(SIGNED, { body, bytes, signedFor: id(taskId) });
		expect('reason' in callback || callback.taskId === taskId).toBe(true);
	});
	await fc.assert(property);
});
