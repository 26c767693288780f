import { callbackCases } from '../../../dev/fixtures/callbackCases.cts';
import { signHeaders } from '../../../dev/service/signHeaders.cts';
import {
	verifyCallback,
	type VerdictItem,
} from '../../../nodes/MediaGeneration/operations/verifyCallback';
import { buildContext, buildItem } from '../n8n';

const seconds = 1_763_640_000;
const taskId = 'task-8f3b';
const keys = { current: 'whk_current', previous: 'whk_previous' };
const body = { taskId, data: { task_id: taskId } };

/** The headers as services send them, and as logs show them. */
function sign(key = keys.current, timestamp = seconds) {
	const signed = signHeaders(body, key, timestamp);
	return {
		'X-Webhook-Timestamp': signed['x-webhook-timestamp'],
		'X-Webhook-Signature': signed['x-webhook-signature'],
	};
}

const base64 = sign()['X-Webhook-Signature'];

beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(seconds * 1_000));
afterEach(() => jest.restoreAllMocks());

const CREDENTIALS = { webhookSecret: keys.current, previousWebhookSecret: keys.previous };

/** Verifies a callback that a workflow has received. */
async function verify(
	headers: object,
	content: unknown = body,
	{ credentials = CREDENTIALS }: { credentials?: object } = {},
) {
	const item = buildItem(buildContext(), 0, { credentials, options: {} });
	const parameters: Record<string, unknown> = { headers, body: content };
	const request = await verifyCallback.prepare({ ...item, read: (name) => parameters[name] });
	const [outcome] = await verifyCallback.run([{ item, request }], item.call);
	return (outcome as { items: Array<{ json: VerdictItem }> }).items[0]?.json;
}

const facts = { taskId, signature: 'current', clockDifferenceSeconds: 0 };

it('a genuine callback is known by header names in any case, and a number for the time', async () => {
	const headers = { ' X-WEBHOOK-TIMESTAMP': seconds, 'x-webhook-signature': base64 };
	const message = 'The callback is genuine';
	expect(await verify(headers)).toStrictEqual({ genuine: true, message, ...facts });
});

it.each([
	[-4_321, keys.current, 'timestampStale', 'current'],
	[301, keys.previous, 'timestampStale', 'previous'],
	[-301, 'stranger', 'timestampStale', undefined],
	[300, 'stranger', 'signatureWrong', undefined],
])('%d s off, signed with %s: %s', async (off, key, reason, signature) => {
	const headers = sign(key, seconds + off);
	const known = { taskId, ...(signature && { signature }), clockDifferenceSeconds: off };
	const message = expect.stringMatching(/^X-Webhook-(Timestamp is too far|Signature must be)/);
	expect(await verify(headers)).toStrictEqual({ genuine: false, reason, message, ...known });
});

it('without a key in the credential, it says so', async () => {
	expect(await verify(sign(), body, { credentials: { webhookSecret: '' } })).toStrictEqual({
		genuine: false,
		reason: 'keyMissing',
		message: expect.stringContaining('has no key') as string,
		taskId,
		clockDifferenceSeconds: 0,
	});
});

it.each<[string, Record<string, unknown>, unknown]>([
	['headerMissing', { 'X-Webhook-Timestamp': null, 'X-Webhook-Signature': base64 }, body],
	['headerMissing', { ...sign(), 'X-Webhook-Signature': [base64] }, body],
	['taskIdMissing', sign(), { taskId }],
])('%s is told without facts', async (reason, headers, content) => {
	const message: unknown = expect.stringMatching(/^[A-Z].*[^.]$/);
	expect(await verify(headers, content)).toStrictEqual({ genuine: false, reason, message });
});

const subject = { taskId, seconds, key: keys.current, previousKey: keys.previous };
it.each(callbackCases(subject))(
	'it agrees with the trigger, and gives away neither key nor signature: $name',
	async ({ headers, body: content, status, reason }) => {
		const verdict = await verify(headers, content);
		expect([verdict?.genuine, verdict?.reason]).toEqual([status === 200, reason]);
		const shown = JSON.stringify({ ...verdict, taskId: undefined });
		for (const secret of [keys.current, keys.previous, base64]) expect(shown).not.toContain(secret);
	},
);
