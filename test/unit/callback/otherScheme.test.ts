import { createHmac } from 'crypto';
import { signHeaders } from '../../../dev/service/signHeaders.cts';
import type { SignedContent } from '../../../nodes/MediaGeneration/callback/scheme';
import { verifyRequest } from '../../../nodes/MediaGeneration/callback/verifyRequest';
import { verifyCallback } from '../../../nodes/MediaGeneration/operations/verifyCallback';
import { buildContext, buildItem, buildWebhook } from '../n8n';

const KEY = 'a-key';
const signBytes = (bytes: Uint8Array, key: string) =>
	createHmac('sha256', key).update(bytes).digest('base64');

/** A scheme that signs the bytes of the body, and whose keys have a form. */
jest.mock('../../../nodes/MediaGeneration/callback/scheme', () => ({
	...jest.requireActual<object>('../../../nodes/MediaGeneration/callback/scheme'),
	sign: (_: object, { bytes }: SignedContent, key: string) =>
		key === KEY ? signBytes(bytes, key) : undefined,
}));

const body = { data: { task_id: 'task' } };
const sign = (text: string) => ({
	...signHeaders(body, KEY),
	'x-webhook-signature': signBytes(Buffer.from(text), KEY),
});

it.each<[string, string, string, object]>([
	['what it signed', JSON.stringify(body), KEY, { signedBy: 'current' }],
	['not the same in other bytes', `${JSON.stringify(body)} `, KEY, { reason: 'signatureWrong' }],
	['nothing by a key of no form', JSON.stringify(body), 'other', { reason: 'signatureWrong' }],
])('a scheme may sign the bytes of a body: a receiver takes %s', async (_, text, key, expected) => {
	const callback = { taskId: 'task', webhookSecret: key, headers: sign(text), body, more: {} };
	expect(await verifyRequest(buildWebhook(callback), { signed: 'ifKey' })).toMatchObject(expected);
});

it.each<[string, string | object, string]>([
	['as a Webhook node outputs it', body, JSON.stringify(body)],
	['as the text that came', `${JSON.stringify(body)} `, `${JSON.stringify(body)} `],
])('Verify Callback takes such a body %s', async (_, content, text) => {
	const item = buildItem(buildContext(), 0, { credentials: { webhookSecret: KEY }, options: {} });
	const parameters: Record<string, unknown> = { headers: sign(text), body: content };
	const request = await verifyCallback.prepare({ ...item, read: (name) => parameters[name] });
	const outcomes = await verifyCallback.run([{ item, request }], item.call);
	expect(outcomes).toMatchObject([{ items: [{ json: { genuine: true } }] }]);
});
