import { addReference, readReference } from '../../../nodes/MediaGeneration/callback/reference';
import { sign } from '../../../nodes/MediaGeneration/callback/scheme';
import { verify } from '../../../nodes/MediaGeneration/callback/verify';

const current = 'whk_test_key';
const URL_OF_TRIGGER = 'https://n8n.example/webhook/abc/webhook';

/** Signed with: printf 'reference\n123456789' | openssl dgst -sha256 -hmac whk_test_key -binary | base64 | tr +/ -_ | tr -d = */
const MADE = 'MTIzNDU2Nzg5.-7DFc6VA6EzGM0gFj29PUiYkdLKAo-qZPUsdpDDRyDQ';

/** Signs a text, and returns the parameter. */
const make = (text: string) =>
	String(new URL(addReference(URL_OF_TRIGGER, text, { current })).searchParams.get('reference'));

it.each([
	['', `${URL_OF_TRIGGER}?reference=${MADE}`],
	['?a=%7E+~&b=?', `${URL_OF_TRIGGER}?a=%7E+~&b=?&reference=${MADE}`],
	['#part?a', `${URL_OF_TRIGGER}?reference=${MADE}#part?a`],
])('is added to a URL that ends with %j, whose parts stay as they are', (end, expected) => {
	expect(addReference(URL_OF_TRIGGER + end, '123456789', { current })).toBe(expected);
});

it.each([' two\r\nlines\n', '\0', '🦊 ? & = # %20 +'])(
	'%j comes back as it was, by the current and the previous key',
	(text) => {
		const made = make(text);
		expect(readReference(made, { current })).toBe(text);
		expect(readReference(made, { current: 'new', previous: current })).toBe(text);
		expect(readReference(made, { current: 'new', previous: 'old' })).toBeUndefined();
	},
);

describe('a stranger who chooses the text', () => {
	const toBase64 = (made: string) =>
		`${made.split('.')[1]?.replace(/-/g, '+').replace(/_/g, '/')}=`;
	const send = async (task_id: string, signature: string) =>
		await verify(
			{
				headers: { 'x-webhook-timestamp': '1763640000', 'x-webhook-signature': signature },
				body: { data: { task_id } },
				bytes: Buffer.from('{}'),
			},
			{ signed: true, toleranceSeconds: 0 },
			async () => ({ webhookSecret: current }),
		);
	const signAsService = (taskId: string) =>
		sign({ timestamp: '1763640000', given: [] }, { taskId, bytes: Buffer.from('') }, current) ?? '';

	it.each(['task-8f3b.1763640000', '\ntask-8f3b.1763640000'])(
		'gets no signature of a callback by %j',
		async (text) => {
			const genuine = await send('task-8f3b', signAsService('task-8f3b'));
			expect(genuine).toMatchObject({ signedBy: 'current' });
			const forged = await send('task-8f3b', toBase64(make(text)));
			expect(forged).toEqual({ reason: 'signatureWrong' });
		},
	);

	it('would get one of a task whose ID has a line break, which no callback may have', async () => {
		const signature = toBase64(make('task-8f3b.1763640000'));
		expect(signature).toBe(signAsService('reference\ntask-8f3b'));
		expect(await send('reference\ntask-8f3b', signature)).toEqual({ reason: 'taskIdMalformed' });
	});
});
