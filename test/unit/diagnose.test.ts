import { diagnoseCallback } from '../../nodes/MediaGeneration/callback/diagnose';
import { callbackCases, hmac } from '../../dev/fixtures/callbackCases.cts';

const seconds = 1_763_640_000;
const taskId = 'task-8f3b';
const keys = { current: 'whk_current', previous: 'whk_previous' };
const settings = { secrets: keys, toleranceSeconds: 300, now: seconds * 1_000 };
const buildBody = (task_id: string) => ({ data: { task_id } });
const body = { taskId, ...buildBody(taskId) };
const bytes = hmac(taskId, seconds, keys.current);
const base64 = bytes.toString('base64');
const hex = bytes.toString('hex');

/** Headers with this signature. */
const withSignature = (signature: string, timestamp = seconds) => ({
	'X-Webhook-Timestamp': String(timestamp),
	'X-Webhook-Signature': signature,
});
const signed = (key = keys.current, timestamp = seconds) =>
	withSignature(hmac(taskId, timestamp, key).toString('base64'), timestamp);

describe('diagnoseCallback', () => {
	it('says that a callback is genuine, with header names in any case and a number for the time', () => {
		const headers = { ' X-WEBHOOK-TIMESTAMP': seconds, 'x-webhook-signature': base64 };
		expect(diagnoseCallback(headers, body, settings)).toStrictEqual({
			genuine: true,
			message: 'The callback is genuine.',
			taskId,
			signature: 'current',
			clockDifferenceSeconds: 0,
		});
	});

	it('says that the previous key is still in use', () => {
		expect(diagnoseCallback(signed(keys.previous), body, settings)).toMatchObject({
			genuine: true,
			signature: 'previous',
			message: expect.stringContaining("Keep 'Previous Webhook HMAC Key'"),
		});
	});

	it.each([
		[-4_321, keys.current, '4321 s before now, and its signature is right (current key). If'],
		[301, keys.previous, '301 s after now, and its signature is right (previous key). If'],
		[-301, 'stranger', '301 s before now. If'],
	])('says that a callback is stale by %d s, and whose signature it has', (off, key, words) => {
		const headers = signed(key, seconds + off);
		expect(diagnoseCallback(headers, body, settings)).toMatchObject({
			genuine: false,
			reason: 'timestampStale',
			clockDifferenceSeconds: off,
			message: expect.stringContaining(words),
		});
		const { genuine } = diagnoseCallback(headers, body, { ...settings, toleranceSeconds: 0 });
		expect(genuine).toBe(key !== 'stranger');
	});

	/** Its signature has a + and a /, which URL-safe Base64 writes in another way. */
	const unsafeBody = buildBody('d');
	const urlSafe = hmac('d', seconds, keys.current).toString('base64url');
	const bodyOfTwo = { ...body, taskId: 'another' };
	const record = { data: { taskId } };
	const recordOfTwo = { data: { taskId, task_id: 'x' } };
	const topOfTwo = { taskId, ...buildBody('x') };
	const turnOn = "Turn on 'Other Callback Bodies'";
	const inMilliseconds = signed(keys.current, seconds * 1_000);
	const ofThe1970s = signed(keys.current, 100_000_000_001);
	const nullHeaders = { 'X-Webhook-Timestamp': null, 'X-Webhook-Signature': undefined };
	const asText = { ...signed(), 'Content-Type': 'text/plain' };
	it.each<[string, Record<string, unknown>, unknown, string, string]>([
		['hex', withSignature(hex), body, 'signatureHex', 'in hex'],
		['URL-safe Base64', withSignature(urlSafe), unsafeBody, 'signatureUrlSafe', 'URL-safe'],
		['padding', withSignature(`${urlSafe}=`), unsafeBody, 'signatureUrlSafe', 'URL-safe'],
		['blanks', withSignature(` ${base64}\n`), body, 'signatureWhiteSpace', 'white space'],
		['hex and more', withSignature(`${hex}zz`), body, 'keyMismatch', 'another key'],
		['more and Base64', withSignature(`!${urlSafe}`), unsafeBody, 'keyMismatch', 'another key'],
		['Base64 and more', withSignature(`${urlSafe}!!`), unsafeBody, 'keyMismatch', 'another key'],
		['another key', signed('stranger'), body, 'keyMismatch', "Compare 'Webhook HMAC Key'"],
		['milliseconds', inMilliseconds, body, 'timestampInMilliseconds', 'is in milliseconds'],
		['early milliseconds', ofThe1970s, body, 'timestampInMilliseconds', 'is in milliseconds'],
		['no ID', signed(), { data: {} }, 'taskIdMissing', 'data.task_id'],
		['no ID but a top-level one', signed(), { taskId }, 'signatureOfTopLevelId', 'top-level'],
		['a record in data', signed(), record, 'signatureOfDataTaskId', turnOn],
		['one beside another ID', signed(), recordOfTwo, 'signatureOfDataTaskId', 'data.taskId'],
		['the top-level ID beside another', signed(), topOfTwo, 'signatureOfTopLevelId', turnOn],
		['an ID elsewhere, of another key', signed('stranger'), { taskId }, 'taskIdMissing', 'turn on'],
		['IDs that contradict', signed(), bodyOfTwo, 'taskIdContradictory', 'must be the same'],
		['no signature', withSignature(''), body, 'headerMissing', 'Missing: X-Webhook-Signature.'],
		['no headers', nullHeaders, body, 'headerMissing', 'X-Webhook-Timestamp, X-Webhook-Signature.'],
		['a body that is no JSON', signed(), 'task', 'bodyNotAnObject', 'JSON object'],
		['another content type', asText, body, 'bodyNotAnObject', 'Content-Type'],
	])('recognizes %s', (_, headers, content, reason, words) => {
		expect(diagnoseCallback(headers, content, settings)).toMatchObject({
			genuine: false,
			reason,
			message: expect.stringContaining(words),
		});
	});

	const blankAround = { current: ' whk_current\n' };
	const blankBehind = { current: 'new', previous: 'whk_current ' };
	it.each([
		['white space around the key', blankAround, 'keyHasWhiteSpace', /^Webhook HMAC Key /],
		['it behind the previous key', blankBehind, 'keyHasWhiteSpace', /^Previous Webhook HMAC Key /],
		['that there is no key', undefined, 'keyMissing', /./],
	])('recognizes in the credential %s', (_, secrets, reason, words) => {
		const message = expect.stringMatching(words);
		const diagnosis = { genuine: false, reason, message, taskId };
		expect(diagnoseCallback(signed(), body, { ...settings, secrets })).toMatchObject(diagnosis);
	});

	const subject = { taskId, seconds, key: keys.current, previousKey: keys.previous };
	it.each(callbackCases(subject))(
		'agrees with the trigger, and gives away neither key nor signature: $name',
		({ headers, body: content, status }) => {
			const { taskId: shown, ...diagnosis } = diagnoseCallback(headers, content, settings);
			expect(diagnosis.genuine).toBe(status === 200);
			expect(diagnosis.clockDifferenceSeconds).not.toBeNaN();
			for (const secret of [keys.current, keys.previous, base64, hex])
				expect(JSON.stringify(diagnosis)).not.toContain(secret);
			expect([undefined, 'string']).toContain(shown && typeof shown);
		},
	);
});
