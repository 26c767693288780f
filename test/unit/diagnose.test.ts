import { diagnoseCallback } from '../../nodes/MediaGeneration/callback/diagnose';
import { callbackCases, hmac } from '../../dev/fixtures/callbackCases.cts';

const seconds = 1_763_640_000;
const taskId = 'task-8f3b';
const keys = { current: 'whk_current', previous: 'whk_previous' };
const settings = { secrets: keys, toleranceSeconds: 300, now: seconds * 1_000 };
const body = { taskId, data: { task_id: taskId } };

const signed = (bytes = hmac(taskId, seconds, keys.current), timestamp = seconds) => ({
	'X-Webhook-Timestamp': String(timestamp),
	'X-Webhook-Signature': bytes.toString('base64'),
});
/** One whose signature differs when it is written URL-safe. */
const unsafeId = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].find((id) =>
	/[+/]/.test(hmac(id, seconds, keys.current).toString('base64')),
) as string;

describe('diagnoseCallback', () => {
	it('says that a callback is genuine, with header names in any case and a number for the time', () => {
		const { 'X-Webhook-Signature': signature } = signed();
		const headers = { 'X-WEBHOOK-TIMESTAMP': seconds, 'x-webhook-signature': signature };
		expect(diagnoseCallback(headers, body, settings)).toEqual({
			genuine: true,
			message: 'The callback is genuine.',
			taskId,
			signature: 'current',
			clockDifferenceSeconds: 0,
		});
	});

	it('says that the previous key is still in use', () => {
		const headers = signed(hmac(taskId, seconds, keys.previous));
		expect(diagnoseCallback(headers, body, settings)).toMatchObject({
			genuine: true,
			signature: 'previous',
			message: expect.stringContaining("Keep 'Previous Webhook HMAC Key'"),
		});
	});

	it('says by how much a callback is stale, and that it is genuine otherwise', () => {
		const sent = seconds - 4_321;
		const headers = signed(hmac(taskId, sent, keys.current), sent);
		expect(diagnoseCallback(headers, body, settings)).toMatchObject({
			genuine: false,
			reason: 'timestampStale',
			clockDifferenceSeconds: -4_321,
			signature: 'current',
			message: expect.stringContaining('4321 s before now, and its signature is right'),
		});
		expect(diagnoseCallback(headers, body, { ...settings, toleranceSeconds: 0 })).toMatchObject({
			genuine: true,
		});
	});

	const bytes = hmac(taskId, seconds, keys.current);
	const withSignature = (signature: string) => ({ ...signed(), 'X-Webhook-Signature': signature });
	it.each<[string, Record<string, unknown>, unknown, string, string]>([
		['hex', withSignature(bytes.toString('hex')), body, 'signatureHex', 'hex'],
		[
			'URL-safe Base64',
			withSignature(hmac(unsafeId, seconds, keys.current).toString('base64url')),
			{ data: { task_id: unsafeId } },
			'signatureUrlSafe',
			'URL-safe',
		],
		[
			'white space around the signature',
			withSignature(` ${bytes.toString('base64')}\n`),
			body,
			'signatureWhiteSpace',
			'white space',
		],
		[
			'another key',
			signed(hmac(taskId, seconds, 'stranger')),
			body,
			'keyMismatch',
			"Compare 'Webhook HMAC Key'",
		],
		[
			'milliseconds',
			signed(hmac(taskId, seconds * 1_000, keys.current), seconds * 1_000),
			body,
			'timestampInMilliseconds',
			'milliseconds',
		],
		['no id', signed(), { data: {} }, 'taskIdMissing', 'data.task_id'],
		[
			'no id but a signed top-level one',
			signed(),
			{ taskId },
			'signatureOfTopLevelId',
			'top-level',
		],
		[
			'ids that contradict',
			signed(),
			{ taskId: 'another', data: { task_id: taskId } },
			'taskIdContradictory',
			'must be the same',
		],
		[
			'no signature',
			{ ...signed(), 'X-Webhook-Signature': '' },
			body,
			'headerMissing',
			'Missing: X-Webhook-Signature',
		],
		['a body that is no JSON', signed(), 'task', 'bodyNotAnObject', 'JSON object'],
		[
			'another content type',
			{ ...signed(), 'Content-Type': 'text/plain' },
			body,
			'bodyNotAnObject',
			'Content-Type',
		],
	])('recognises %s', (_, headers, content, reason, words) => {
		expect(diagnoseCallback(headers, content, settings)).toMatchObject({
			genuine: false,
			reason,
			message: expect.stringContaining(words),
		});
	});

	it.each([
		['Webhook HMAC Key', { current: ' whk_current\n' }],
		['Previous Webhook HMAC Key', { current: 'new', previous: 'whk_current ' }],
	])('recognises white space around %s', (name, padded) => {
		const diagnosis = diagnoseCallback(signed(), body, { ...settings, secrets: padded });
		expect(diagnosis).toMatchObject({ genuine: false, reason: 'keyHasWhiteSpace' });
		expect(diagnosis.message).toMatch(new RegExp(`^${name} `));
	});

	it('says that the credential has no key', () => {
		const diagnosis = diagnoseCallback(signed(), body, { ...settings, secrets: undefined });
		expect(diagnosis).toMatchObject({ genuine: false, reason: 'keyMissing', taskId });
	});

	const subject = { taskId, seconds, key: keys.current, previousKey: keys.previous };
	it.each(callbackCases(subject))(
		'agrees with the trigger, and gives away neither key nor signature: $name',
		({ headers, body: content, status }) => {
			const diagnosis = diagnoseCallback(headers, content, settings);
			expect(diagnosis.genuine).toBe(status === 200);
			const { taskId: shown, ...rest } = diagnosis;
			const said = JSON.stringify(rest);
			for (const secret of [
				keys.current,
				keys.previous,
				bytes.toString('base64'),
				bytes.toString('hex'),
			])
				expect(said).not.toContain(secret);
			expect([undefined, 'string']).toContain(shown && typeof shown);
		},
	);
});
