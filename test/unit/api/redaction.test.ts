import { listUrlSecrets, Redactor } from '../../../nodes/MediaGeneration/api/redaction';
import { expectLinear, fill } from '../linear.cts';

const TOKEN = 'pk+1/2=AZy&b"c';
const redactor = new Redactor([` ${TOKEN}\n`, 'shorter', 'not-more', 'not-more', undefined, ' ']);

const asJson = (text: string) => JSON.stringify(text).slice(1, -1);

describe('a message', () => {
	it.each<[string, string]>([
		['as it is', TOKEN],
		['percent-encoded', encodeURIComponent(TOKEN)],
		['as JSON', asJson(TOKEN)],
		['that is short', 'shorter'],
	])('hides a secret %s', (_, text) => {
		expect(redactor.hideInMessage(`a ${text} b ${text}`)).toBe('a *** b ***');
	});

	it('hides the secrets that were added, the longer of two whole', () => {
		const more = redactor.with(['not-more-token', undefined]);
		expect(more.hideInMessage(`${TOKEN} not-more-token`)).toBe('*** ***');
	});

	it('hides a long secret whole, and half a character', () => {
		const [long, odd] = ['abc'.repeat(1_000), 'half\ud800/way'];
		const text = new Redactor([long, odd]).hideInMessage(
			`a ${long}ab ${odd} b half%EF%BF%BD%2Fway`,
		);
		expect(text).toBe('a ***ab *** b ***');
	});

	it.each([
		TOKEN.slice(1),
		'pk+1/2, https://cdn.example/a.png?X-Signature=abc',
		'https://n8n.example/webhook-waiting/17/wait?signature=7d0c6f0f9f2e4f6b8a1c3e5d7f9b1d3f',
	])('keeps %j, which is no secret that is known', (text) => {
		expect(redactor.hideInMessage(text)).toBe(text);
	});

	it('is hidden in even if it has no end', () => {
		const start = 'Invalid request: {"model":"a","callBackUrl":"https://n8n.example/hook';
		expect(redactor.hideInMessage(`${start}?key=abc…`)).toBe(`${start}?***`);
	});
});

it('data has no secret in any text or name, save short ones, and keeps all else', () => {
	const data = { a: [TOKEN, 1, null, { [TOKEN]: `x ${TOKEN}` }], shorter: 'shorter', b: true };
	const hidden = { a: ['***', 1, null, { '***': 'x ***' }], shorter: 'shorter', b: true };
	expect(redactor.hideInData(data)).toEqual(hidden);
	const odd = JSON.parse('{"__proto__":{"code":200}}') as object;
	expect(JSON.stringify(redactor.hideInData(odd))).toBe('{}');
});

const URL = 'https://n8n.example/webhook-waiting/17/media-generation';

describe("a callback URL's query is hidden by its key", () => {
	/** Services send the request as an object, or as text, in which its input may be text. */
	const nestings: Array<[string, (url: string) => unknown]> = [
		['an object', (callBackUrl) => ({ callBackUrl, taskId: 'task' })],
		['lists', (callback_url) => [[{ callback_url, taskId: 'task' }]]],
		['text', (callbackUrl) => JSON.stringify({ callbackUrl, taskId: 'task' }, undefined, 1)],
		['text of PHP', (callBackUrl) => JSON.stringify({ callBackUrl }).replaceAll('/', '\\/')],
		['text in text', (callBackUrl) => asJson(JSON.stringify([{ callBackUrl, a: '"' }, 1]))],
	];
	it.each(nestings)('in %s', (_, nest) => {
		expect(redactor.hideInData(nest(`${URL}?signature=1&b=2#3`))).toEqual(nest(`${URL}?***`));
		expect(redactor.hideInData(nest(URL))).toEqual(nest(URL));
	});

	it.each(nestings)('and its login, in %s', (_, nest) => {
		expect(redactor.hideInData(nest('https://ann:pass@n8n.example/a?b'))).toEqual(
			nest('https://***@n8n.example/a?***'),
		);
	});

	it.each(['?a"b', '?a\\', '?\\"', '/"?'])(
		'and the rest stays JSON, whatever the URL: …%s',
		(end) => {
			const url = `https://n8n.example${end}`;
			let text = JSON.stringify({ callBackUrl: url, rest: ['"', end] });
			for (let depth = 0; depth < 3; depth++) {
				let read = redactor.hideInData(text);
				while (typeof read === 'string') read = JSON.parse(read);
				expect([depth, read]).toMatchObject([depth, { rest: ['"', end] }]);
				text = JSON.stringify(text);
			}
		},
	);

	it('in the `param` of a record, which is JSON text with its input as JSON text', () => {
		const input = JSON.stringify({ prompt: 'A "quoted" word?', image_urls: [`${URL}?a=b`] });
		const buildRecord = (callBackUrl: string) => ({
			taskId: 'task',
			param: JSON.stringify({ input, callBackUrl, model: 'a/b' }),
			paramJson: JSON.stringify({ model: 'a/b', input, callBackUrl }),
		});
		const secret = `${URL}?signature=7d0c6f0f9f2e4f6b8a1c3e5d7f9b1d3f`;
		const hidden = buildRecord(`${URL}?***`);
		expect(redactor.hideInData(buildRecord(secret))).toEqual(hidden);
		const said = JSON.stringify({ code: 200, data: buildRecord(secret) });
		expect(redactor.hideInMessage(said)).toBe(JSON.stringify({ code: 200, data: hidden }));
	});
});

it.each([
	['https://ann:pass-word@n8n.example/hook?key=abc&user=7#a', ['pass-word', '?key=abc&user=7']],
	['https://n8n.example/webhook/a', []],
	['https://ann:pass%20word@n8n.example/', ['pass%20word', 'pass word']],
])('the secrets of the URL %s are its password and its query, nothing else', (url, secrets) => {
	expect(listUrlSecrets(url)).toEqual(secrets);
});

describe('hiding takes time in proportion to', () => {
	const SIZE = 1 << 21;

	/** A text that all but has the query of a Callback URL, again and again. */
	it.each<[string, query: string, text: string]>([
		['backslashes', fill('\\', SIZE / 8), fill('\\', SIZE)],
		['an odd middle', `${fill('b', SIZE / 8)}a${fill('b', SIZE / 8)}`, fill('b', SIZE)],
	])('the text and the Callback URL: %s', (_, query, text) => {
		const own = new Redactor(listUrlSecrets(`https://x/?${query}`));
		const param = JSON.stringify({ callBackUrl: `?${text}` });
		expectLinear(() => own.hideInData({ text, param }));
	});
});
