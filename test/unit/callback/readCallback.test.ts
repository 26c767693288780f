import type { IWebhookFunctions } from 'n8n-workflow';
import { hmac } from '../../../dev/fixtures/callbackCases.cts';
import { readCallback } from '../../../nodes/MediaGeneration/callback/readCallback';

const KEY = 'a-key';
const body = { data: { taskId: 'task' } };
const withId = (id: string) => ({ mediaGenerationApi: { id } });

let nodes = 0;

interface Node {
	id?: string;
	workflow?: string;
	credentials?: object;
	mode?: string;
	/** Reads the credential; undefined: it can't be read. */
	webhookSecret?: string;
}

/** A node, and how often n8n reads its credential. */
function newNode({
	id = `read-${nodes++}`,
	workflow = 'workflow',
	credentials = withId('one'),
	mode = 'webhook',
	...stored
}: Node) {
	const state = { reads: 0, ...stored };
	const send = async (isSigned?: boolean, key?: string) => {
		const timestamp = String(Math.floor(Date.now() / 1000));
		const signature = key && hmac('task', timestamp, key).toString('base64');
		return await readCallback(
			{
				getNode: () => ({ id, credentials }),
				getWorkflow: () => ({ id: workflow }),
				getMode: () => mode,
				getHeaderData: () =>
					signature ? { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': signature } : {},
				getBodyData: () => body,
				async getCredentials() {
					state.reads++;
					await Promise.resolve();
					if (state.webhookSecret === undefined) throw new Error('no database');
					return { webhookSecret: state.webhookSecret };
				},
			} as unknown as IWebhookFunctions,
			{ isSigned },
		);
	};
	return { state, send };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it.each<[string, string, boolean | undefined, string | undefined, object, number]>([
	['is signed, as it must be', KEY, true, KEY, { verifiedBy: 'current', body }, 1],
	['has no signature: no key is read for it', KEY, true, undefined, { reason: 'headerMissing' }, 0],
	['has that of another key', KEY, true, 'stranger', { reason: 'signatureWrong' }, 1],
	['must be signed, without a key', '\u200b', true, KEY, { reason: 'keyMissing' }, 1],
	['needs no signature', KEY, false, undefined, { verifiedBy: 'off' }, 1],
	['needs none if there is no key', '', undefined, undefined, { verifiedBy: 'off' }, 1],
	['needs one if there is a key', KEY, undefined, undefined, { reason: 'headerMissing' }, 1],
	['has it', KEY, undefined, KEY, { verifiedBy: 'current' }, 1],
])('a callback %s', async (_, webhookSecret, isSigned, key, expected, reads) => {
	const { state, send } = newNode({ webhookSecret });
	const callback = await send(isSigned, key);
	expect(callback).toMatchObject(expected);
	expect(state.reads).toBe(reads);
	if ('body' in callback) expect(callback.credentials).toEqual({ webhookSecret });
});

describe('callbacks share the credential that was read', () => {
	it('for a second, and then it is read anew', async () => {
		const { state, send } = newNode({ webhookSecret: KEY });
		const verified = { verifiedBy: 'current' };
		expect(await Promise.all([send(true, KEY), send(true, KEY)])).toMatchObject([
			verified,
			verified,
		]);
		await jest.advanceTimersByTimeAsync(999);
		state.webhookSecret = 'new';
		expect(await send(true, KEY)).toMatchObject(verified);
		expect(state.reads).toBe(1);
		await jest.advanceTimersByTimeAsync(1);
		expect(await send(true, 'new')).toMatchObject(verified);
	});

	it('also if it could not be read', async () => {
		const { state, send } = newNode({});
		for (const isSigned of [false, true, undefined])
			await expect(send(isSigned, KEY)).rejects.toThrow('no database');
		expect(state.reads).toBe(1);
		await jest.advanceTimersByTimeAsync(1_000);
		state.webhookSecret = KEY;
		expect(await send(true, KEY)).toMatchObject({ verifiedBy: 'current' });
	});

	it('with no other node, workflow, mode or credential', async () => {
		const id = 'one-of-many';
		const others = [
			{ id: 'another' },
			{ workflow: 'other' },
			{ mode: 'manual' },
			{ credentials: withId('other') },
			{ credentials: {} },
		];
		for (const other of [{}, ...others]) {
			const { state, send } = newNode({ id, webhookSecret: KEY, ...other });
			await send(true, KEY);
			expect([other, state.reads]).toEqual([other, 1]);
		}
	});
});
