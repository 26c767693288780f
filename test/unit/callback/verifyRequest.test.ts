import { verifyRequest } from '../../../nodes/MediaGeneration/callback/verifyRequest';
import { buildWebhook } from '../n8n';

const KEY = 'a-key';
const body = { data: { task_id: 'task' } };
const signed = { signed: true as boolean | 'ifKey', toleranceSeconds: 300 };
const unsigned = { ...signed, signed: false };
/** As a run that sleeps has it. */
const ifKey = { ...signed, signed: 'ifKey' as const, unsignedType: 'nudge' };
const nudge = { data: { task_id: 'task', callbackType: 'nudge' } };
const withId = (id: string) => ({ mediaGenerationApi: { id } });

let nodes = 0;

/** A node, and how often n8n reads its credential, which is impossible without a key. */
function newNode(
	webhookSecret?: string,
	{
		id = `read-${nodes++}`,
		workflow = 'workflow',
		mode = 'webhook',
		credentials = withId('one') as object,
	} = {},
) {
	const state = { reads: 0, webhookSecret, previousWebhookSecret: '', lines: [] as string[] };
	const more = {
		logger: { warn: (line: string) => state.lines.push(line) },
		getNode: () => ({ id, name: 'Node', credentials }),
		getWorkflow: () => ({ id: workflow }),
		getMode: () => mode,
		async getCredentials() {
			state.reads++;
			if (state.webhookSecret === undefined) throw new Error('no database');
			const { webhookSecret, previousWebhookSecret } = state;
			return { webhookSecret, previousWebhookSecret };
		},
	};
	const send = async (settings: typeof signed, secret?: string, content?: object) => {
		const callback = { taskId: 'task', secret, headers: secret ? undefined : {}, more };
		return await verifyRequest(buildWebhook({ ...callback, body: content }), settings);
	};
	return { state, send };
}

jest.useFakeTimers();

it.each<[string, string, typeof signed, string | undefined, object, number]>([
	['is signed, as it must be', KEY, signed, KEY, { signedBy: 'current', body }, 1],
	['is unsigned: no key is read for it', KEY, signed, undefined, { reason: 'headerMissing' }, 0],
	['is signed with another key', KEY, signed, 'stranger', { reason: 'signatureWrong' }, 1],
	['must be signed, without a key', '\u200b', signed, KEY, { reason: 'keyMissing' }, 1],
	['needs no signature', KEY, unsigned, undefined, { signedBy: 'off' }, 1],
	['needs none if there is no key', '', ifKey, undefined, { signedBy: 'off' }, 1],
	['needs one if there is a key', KEY, ifKey, undefined, { reason: 'headerMissing' }, 1],
	['has it', KEY, ifKey, KEY, { signedBy: 'current' }, 1],
])('a callback %s', async (_, webhookSecret, settings, key, expected, reads) => {
	const { state, send } = newNode(webhookSecret);
	const callback = await send(settings, key);
	expect(callback).toMatchObject(expected);
	expect(state.reads).toBe(reads);
	if ('body' in callback) expect(callback.credentials).toMatchObject({ webhookSecret });
});

it.each<[string, typeof signed, string | undefined, object]>([
	['a run that sleeps', ifKey, undefined, { signedBy: 'off' }],
	['a run that sleeps, signed by a stranger', ifKey, 'stranger', { signedBy: 'off' }],
	['the trigger', signed, undefined, { reason: 'headerMissing' }],
	['the trigger, signed by a stranger', signed, 'stranger', { reason: 'signatureWrong' }],
])('a nudge for %s', async (_, settings, key, expected) => {
	const { send } = newNode(KEY);
	expect(await send(settings, key, nudge)).toMatchObject(expected);
});

it.each<[string, typeof signed, string | undefined]>([
	['must be signed, and is', signed, KEY],
	['must be signed, if there is a key', ifKey, KEY],
	['must be signed, if there is a key, and is not', ifKey, undefined],
	['need not be signed', unsigned, undefined],
])('no key is read for garbage: it %s', async (_, settings, key) => {
	const { state, send } = newNode(KEY);
	for (const [reason, content] of [
		['bodyNotAnObject', []],
		['taskIdMissing', {}],
		['taskIdMalformed', { data: { task_id: '..' } }],
	] as const)
		expect(await send(settings, key, content)).toEqual({ reason });
	expect(state.reads).toBe(0);
});

it.each<[string, string, typeof signed, number]>([
	['the previous key', 'old', signed, 1],
	['the previous key, where it is optional', 'old', ifKey, 1],
	['the key', KEY, signed, 0],
	['another key', 'stranger', signed, 0],
	['no key that counts', 'old', unsigned, 0],
])('a callback signed with %s is worth %d lines in the log', async (_, key, settings, count) => {
	const { send, state } = newNode(KEY);
	state.previousWebhookSecret = 'old';
	for (const time of [1, 2]) {
		await send(settings, key);
		expect([time, state.lines]).toEqual([
			time,
			Array(count).fill(expect.stringMatching(/^"Node" .*'Previous Webhook HMAC Key'.*Clear/)),
		]);
	}
});
