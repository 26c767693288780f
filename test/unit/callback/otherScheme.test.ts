import { createHmac } from 'crypto';
import { signHeaders } from '../../../dev/service/signHeaders.cts';
import type { SignedContent } from '../../../nodes/MediaGeneration/callback/scheme';
import { verifyRequest } from '../../../nodes/MediaGeneration/callback/webhook';
import { buildWebhook } from '../n8n';

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

it.each<[string, string, string, object]>([
	['what it signed', JSON.stringify(body), KEY, { signedBy: 'current' }],
	['not the same in other bytes', `${JSON.stringify(body)} `, KEY, { reason: 'signatureWrong' }],
	['nothing by a key of no form', JSON.stringify(body), 'other', { reason: 'signatureWrong' }],
])('a scheme may sign the bytes of a body: a receiver takes %s', async (_, text, key, expected) => {
	const signature = { 'x-webhook-signature': signBytes(Buffer.from(text), KEY) };
	const headers = { ...signHeaders(body, KEY), ...signature };
	const callback = { taskId: 'task', webhookSecret: key, headers, body, more: {} };
	expect(await verifyRequest(buildWebhook(callback), { signed: 'ifKey' })).toMatchObject(expected);
});
