import crypto from 'crypto';
import { addReference, readReference } from '../../../nodes/MediaGeneration/callback/reference';
import { sign } from '../../../nodes/MediaGeneration/callback/scheme';
import { verify } from '../../../nodes/MediaGeneration/callback/verify';

const key = 'whk_test_key';
const keys = { current: key };
const URL_OF_TRIGGER = 'https://n8n.example/webhook/abc/webhook';

/** Made with: printf 'reference\n123456789' | openssl dgst -sha256 -hmac whk_test_key -binary | base64 | tr +/ -_ | tr -d = */
const SIGNATURE = '-7DFc6VA6EzGM0gFj29PUiYkdLKAo-qZPUsdpDDRyDQ';
const MADE = `MTIzNDU2Nzg5.${SIGNATURE}`;

/** Signs a text, and returns the parameter. */
const make = (text: string, current = key) =>
	String(new URL(addReference(URL_OF_TRIGGER, text, { current })).searchParams.get('reference'));

it('a reference is its text and the HMAC-SHA256 over "reference", a line break and the text, in base64url', () => {
	expect(make('123456789')).toBe(MADE);
});

it.each([
	['', `${URL_OF_TRIGGER}?reference=${MADE}`],
	['?', `${URL_OF_TRIGGER}?&reference=${MADE}`],
	['?a=%7E+~', `${URL_OF_TRIGGER}?a=%7E+~&reference=${MADE}`],
	['?a=1&b=?', `${URL_OF_TRIGGER}?a=1&b=?&reference=${MADE}`],
	['#part?a', `${URL_OF_TRIGGER}?reference=${MADE}#part?a`],
	['?a=1#part#', `${URL_OF_TRIGGER}?a=1&reference=${MADE}#part#`],
])('is added to a URL that ends with %j, whose parts stay as they are', (end, expected) => {
	expect(addReference(URL_OF_TRIGGER + end, '123456789', keys)).toBe(expected);
});

const LONGEST = 'ü'.repeat(250);
const TEXTS = [
	'42',
	'{"chat":42,"text":"a \\"b\\""}',
	' two\r\nlines\n',
	'\n',
	'task-8f3b.1763640000',
	'reference\ntask-8f3b.1763640000',
	'.',
	'🦊 ? & = # %20 +',
	'<b>{{ $json }}</b>',
	'\0',
	LONGEST,
];
it.each(TEXTS)('%j comes back as it was, by the current and the previous key', (text) => {
	const made = make(text);
	expect(made).toMatch(/^[\w-]+\.[\w-]{43}$/);
	expect(readReference(made, keys)).toBe(text);
	expect(readReference(made, { current: 'new', previous: key })).toBe(text);
	expect(readReference(made, { current: 'new', previous: 'old' })).toBeUndefined();
});

const toBase64 = (base64url: string) => `${base64url.replace(/-/g, '+').replace(/_/g, '/')}=`;

describe('a stranger who chooses the text', () => {
	const now = 1763640000_000;
	const send = (taskId: string, signature: string) =>
		verify(
			{
				headers: { 'x-webhook-timestamp': '1763640000', 'x-webhook-signature': signature },
				body: { data: { task_id: taskId } },
				bytes: Buffer.from('{}'),
			},
			keys,
			{ toleranceSeconds: 300, now },
		).faults;
	const signAsService = (taskId: string) =>
		String(sign({ timestamp: '1763640000', given: [] }, { taskId, bytes: Buffer.from('') }, key));

	it.each(['task-8f3b.1763640000', '\ntask-8f3b.1763640000', 'reference\ntask-8f3b.1763640000'])(
		'gets no signature of a callback by %j',
		(text) => {
			expect(send('task-8f3b', signAsService('task-8f3b'))).toEqual([]);
			const [, signature = ''] = make(text).split('.');
			expect(send('task-8f3b', toBase64(signature))).toEqual(['signatureWrong']);
		},
	);

	it('would get one of a task whose ID has a line break, which no callback may have', () => {
		const [, signature = ''] = make('task-8f3b.1763640000').split('.');
		expect(toBase64(signature)).toBe(signAsService('reference\ntask-8f3b'));
		expect(send('reference\ntask-8f3b', toBase64(signature))).toEqual(['taskIdMalformed']);
	});

	it('makes no reference of the signature of a callback', () => {
		const signature = signAsService('task-8f3b').slice(0, -1);
		const text = Buffer.from('task-8f3b.1763640000').toString('base64url');
		const forged = `${text}.${signature.replace(/\+/g, '-').replace(/\//g, '_')}`;
		expect(forged).toMatch(/^[\w-]+\.[\w-]{43}$/);
		expect(readReference(forged, keys)).toBeUndefined();
	});
});

const other = (text: string) => Buffer.from(text).toString('base64url');
it.each<[string, unknown]>([
	['another text', `${other('123456780')}.${SIGNATURE}`],
	['a text that goes on', `${other('123456789\n')}.${SIGNATURE}`],
	['the signature of another text', `${other('123456789')}.${make('1').split('.')[1]}`],
	['another key', make('123456789', 'other')],
	['a blank key', make('123456789', ' ')],
	['a signature cut short', MADE.slice(0, -1)],
	['a longer signature', `${MADE}A`],
	['the signature in Base64', `MTIzNDU2Nzg5.${toBase64(SIGNATURE)}`],
	['the signature with other last bits', `${MADE.slice(0, -1)}R`],
	['a signature outside ASCII', `MTIzNDU2Nzg5.${'é'.repeat(22)}`],
	['a line break behind', `${MADE}\n`],
	['no signature', 'MTIzNDU2Nzg5'],
	['no text', `.${SIGNATURE}`],
	['the signature alone', SIGNATURE],
	['nothing', ''],
	['three parts', `${MADE}.${SIGNATURE}`],
	['a megabyte', `${'A'.repeat(1 << 20)}.${SIGNATURE}`],
	['a megabyte of periods', '.'.repeat(1 << 20)],
	['a repeated parameter', [MADE, MADE]],
	['a list of one', [MADE]],
	['an object', { a: MADE }],
	['an object with a text', { toString: () => MADE }],
	['null', null],
	['a number', 123456789],
])('%s is no reference', (_, value) => {
	expect(readReference(value, keys)).toBeUndefined();
	expect(readReference(value, { current: ' ', previous: '' })).toBeUndefined();
});

it('signatures are compared with each key in constant time, wherever the first wrong byte stands', () => {
	const compare = jest.spyOn(crypto, 'timingSafeEqual');
	for (const signature of [SIGNATURE, `A${SIGNATURE.slice(1)}`, `${SIGNATURE.slice(0, -1)}R`]) {
		compare.mockClear();
		readReference(`MTIzNDU2Nzg5.${signature}`, { current: key, previous: 'old' });
		expect(compare).toHaveBeenCalledTimes(2);
		for (const [one, another] of compare.mock.calls)
			expect([one.byteLength, another.byteLength]).toEqual([43, 43]);
	}
});
