import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SIGNATURE, signHeaders, TIMESTAMP } from '../../../dev/service/signHeaders.cts';
import {
	ABOUT_BODY,
	KEY_NAME,
	SIGNATURE_FAULTS,
} from '../../../nodes/MediaGeneration/callback/scheme';
import { verify } from '../../../nodes/MediaGeneration/callback/verify';

/** The form of the headers, and what is signed: all that another scheme changes, beside the emulator. */

const TIME = 1_763_640_000;
const KEY = 'whk_test_key';
const body = { data: { task_id: 'task-8f3b' } };

const receive = async (headers: object) =>
	await verify(
		{ headers, body, bytes: Buffer.from(JSON.stringify(body)) },
		{ signed: true, toleranceSeconds: 0 },
		async () => ({ webhookSecret: KEY }),
	);

/** Made with: printf '%s' 'task-8f3b.1763640000' | openssl dgst -sha256 -hmac 'whk_test_key' -binary | base64 */
const VECTOR = 'aN+CwMkHbTQne8Za8G9tSIjsQvciU5vyjlIeMDx/Zio=';
const build = (signature: string, time = TIME) => ({
	'x-webhook-timestamp': String(time),
	'x-webhook-signature': signature,
});

it('a signature is the Base64 of HMAC-SHA256 over ID, period and timestamp', async () => {
	expect(await receive(build(VECTOR))).toMatchObject({ signedBy: 'current' });
});

const good = signHeaders(body, KEY, TIME);
it.each([TIMESTAMP, SIGNATURE] as const)(
	'without the header %s, there is no signature',
	async (name) => {
		for (const value of ['', undefined])
			expect(await receive({ ...good, [name]: value })).toEqual({ reason: 'headerMissing' });
	},
);

it.each<[string, object]>([
	['with one other character', build(`b${VECTOR.slice(1)}`)],
	['of another time', build(VECTOR, TIME + 1)],
	['outside ASCII', build(`${'é'.repeat(43)}=`)],
	['that a proxy joins', build(`${VECTOR}, ${VECTOR}`)],
	['in hexadecimal', build(Buffer.from(VECTOR, 'base64').toString('hex'))],
])('a signature %s is wrong', async (_, headers) => {
	expect(await receive(headers)).toEqual({ reason: 'signatureWrong' });
});

it('the pages say of signatures what senders and the panel read, and the name of the key', () => {
	const root = path.resolve(__dirname, '../../..');
	const [page, readme] = ['docs/trigger.md', 'README.md'].map((name) =>
		readFileSync(path.join(root, name), 'utf8'),
	);
	for (const text of [
		ABOUT_BODY,
		SIGNATURE_FAULTS.headerMissing[1],
		SIGNATURE_FAULTS.signatureWrong[1],
	])
		expect(page).toContain(text);
	expect(page).toContain(`Generate a ${KEY_NAME} `);
	expect(readme).toContain(`\`${KEY_NAME}\``);
});
