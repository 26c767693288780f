import crypto from 'crypto';
import { signHeaders } from '../../../dev/service/signHeaders.cts';
import { addReference, readReference } from '../../../nodes/MediaGeneration/callback/reference';
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
])(
	'a reference is added to a URL that ends with %j, whose parts stay as they are',
	(end, expected) => {
		expect(addReference(URL_OF_TRIGGER + end, '123456789', { current })).toBe(expected);
	},
);

it.each([' two\r\nlines\n', '\0', '🦊 ? & = # %20 +'])(
	'the reference %j comes back as it was, by either key',
	(text) => {
		const made = make(text);
		expect(readReference(made, { current })).toBe(text);
		expect(readReference(made, { current: 'new', previous: current })).toBe(text);
		expect(readReference(made, { current: 'new', previous: 'old' })).toBeUndefined();
	},
);

describe('a stranger who chooses the text', () => {
	const body = { data: { task_id: 'task-8f3b' } };
	const genuine = signHeaders(body, current, 1_763_640_000);
	const isTaken = async (headers: object) => {
		const request = { headers, body, bytes: Buffer.from(JSON.stringify(body)) };
		const options = { signed: true, toleranceSeconds: 0 };
		const verified = await verify(request, options, async () => ({ webhookSecret: current }));
		return 'signedBy' in verified;
	};
	/** Says whether these bytes of a signature are taken in any header, however they are written. */
	const isTakenAnywhere = async (bytes: Buffer) => {
		const headers = (['base64', 'base64url', 'hex'] as const).flatMap((encoding) =>
			Object.keys(genuine).map((name) => ({ ...genuine, [name]: bytes.toString(encoding) })),
		);
		return (await Promise.all(headers.map(isTaken))).includes(true);
	};

	it.each(['', '\n'])('gets no signature of a callback by %j', async (begin) => {
		const update = jest.spyOn(crypto.Hmac.prototype, 'update');
		expect(await isTaken(genuine)).toBe(true);
		const signed = update.mock.calls.map(([text]) => String(text)).join('');
		update.mockRestore();
		const bytes = crypto.createHmac('sha256', current).update(signed).digest();
		expect(await isTakenAnywhere(bytes)).toBe(true);
		const [, made = ''] = make(begin + signed).split('.');
		expect(await isTakenAnywhere(Buffer.from(made, 'base64url'))).toBe(false);
	});
});
