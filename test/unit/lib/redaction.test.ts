import { parseServiceJson, taskRecord } from '../../../nodes/MediaGeneration/api/answers';
import { toTask } from '../../../nodes/MediaGeneration/api/task';
import {
	hideInData,
	hideInMessage,
	listUrlSecrets,
} from '../../../nodes/MediaGeneration/lib/redaction';
import { expectLinear, fill } from '../linear.cts';

const TOKEN = 'pk+1/2=AZy&b"c';
const secrets = [TOKEN, 'shorter', 'not-more', '1712345678'];

const asJson = (text: string) => JSON.stringify(text).slice(1, -1);

describe('a message', () => {
	it.each<[string, string]>([
		['as it is', TOKEN],
		['percent-encoded', encodeURIComponent(TOKEN)],
		['as JSON', asJson(TOKEN)],
		['that is short', 'shorter'],
	])('hides a secret %s', (_, text) => {
		expect(hideInMessage(`a ${text} b ${text}`, secrets)).toBe('a *** b ***');
	});

	it('hides whole the longer of two secrets, a long one, and half a character', () => {
		const [long, odd] = [
			Array.from({ length: 1_000 }, (__, index) => index).join(''),
			'half\ud800/way',
		];
		const message = `a ${long}ab ${odd} b half%EF%BF%BD%2Fway not-more-token`;
		const text = hideInMessage(message, [...secrets, 'not-more-token', long, odd]);
		expect(text).toBe('a ***ab *** b *** ***');
	});

	it.each([600, 1_500])(
		'hides what it has of a long secret, of which it has up to %d characters',
		(most) => {
			const long = Array.from({ length: 600 }, (__, index) => index).join('.');
			expect(hideInMessage(`${long.slice(0, most)}… and more`, [long])).toBe('***… and more');
		},
	);

	it.each([TOKEN.slice(1), 'https://n8n.example/webhook-waiting/17/wait?signature=7d0c6f0f9f2e'])(
		'keeps %j, which is no known secret',
		(text) => {
			expect(hideInMessage(text, secrets)).toBe(text);
		},
	);

	it('hides the query of a callback URL even if its JSON breaks off', () => {
		const start = 'Invalid request: {"model":"a","callBackUrl":"https://n8n.example/hook';
		expect(hideInMessage(`${start}?key=abc…`, secrets)).toBe(`${start}?***`);
	});
});

it('data has no secret in any text or name, save short ones, and keeps all else', () => {
	const plain = { shorter: 'shorter', b: true, at: 1712345678000 };
	const data = { a: [TOKEN, 1, null, { [TOKEN]: `x ${TOKEN}` }], ...plain };
	const hidden = { a: ['***', 1, null, { '***': 'x ***' }], ...plain };
	expect(hideInData(data, secrets)).toEqual(hidden);
});

const URL = 'https://n8n.example/webhook-waiting/17/media-generation';

describe("a callback URL's query is hidden by its key", () => {
	/** Services send the request as an object, or as text, in which its input may be text. */
	const nestings: Array<[string, (url: string) => unknown]> = [
		['an object', (callBackUrl) => ({ callBackUrl, taskId: 'task' })],
		['text', (callback_url) => [JSON.stringify({ callback_url, taskId: 'task' }, undefined, 1)]],
		['text of PHP', (callBackUrl) => JSON.stringify({ callBackUrl }).replaceAll('/', '\\/')],
		['text with lines', (callBackUrl) => `{"callBackUrl"\r\n:\n\t"${callBackUrl}"}`],
		['text in text', (callBackUrl) => asJson(JSON.stringify([{ callBackUrl, a: '"' }, 1]))],
	];
	it.each(nestings)('and its login, in %s', (_, nest) => {
		for (const [url, shown] of [
			[`${URL}?signature=1&b=2#3`, `${URL}?***`],
			[URL, URL],
			['https://ann:pass@n8n.example/a?b', 'https://***@n8n.example/a?***'],
		] as const)
			expect(hideInData(nest(url), secrets)).toEqual(nest(shown));
	});

	it.each(['?a"b', '?a\\', '/"?'])('and the rest stays JSON, whatever the URL: …%s', (end) => {
		const url = `https://n8n.example${end}`;
		let text = JSON.stringify({ callBackUrl: url, rest: ['"', end] });
		for (let depth = 0; depth < 3; depth++) {
			let read = hideInData(text, secrets);
			while (typeof read === 'string') read = JSON.parse(read);
			expect([depth, read]).toMatchObject([depth, { rest: ['"', end] }]);
			text = JSON.stringify(text);
		}
	});

	it('also behind a quote in it', () => {
		const build = (callBackUrl: string) => ({ callBackUrl, next: 'a "b"' });
		expect(hideInData(build(`${URL}?a="b"&c="d"`), [])).toEqual(build(`${URL}?***`));
	});

	it('in the `param` of a record, which is JSON text with its input as JSON text', () => {
		const input = JSON.stringify({ prompt: 'A "quoted" word?', image_urls: [`${URL}?a=b`] });
		const build = (callBackUrl: string) => ({
			param: JSON.stringify({ input, callBackUrl, model: 'a/b' }),
			paramJson: JSON.stringify({ model: 'a/b', input, callBackUrl }),
		});
		expect(hideInData(build(`${URL}?signature=7d0c`), [])).toEqual(build(`${URL}?***`));
	});
});

it.each([
	['https://ann:pass-word@n8n.example/hook?key=abc&user=7#a', ['pass-word', '?key=abc&user=7']],
	['https://n8n.example/webhook/a', []],
	['https://ann:pass%20word@n8n.example/', ['pass%20word', 'pass word']],
])('the secrets of the URL %s are its password and its query, nothing else', (url, listed) => {
	expect([...new Set(listUrlSecrets(url))].filter(Boolean)).toEqual(listed);
});

describe('in proportion to their lengths, time is taken by', () => {
	const SIZE = 1 << 21;

	/** A text that all but has the query of a Callback URL, again and again. */
	it.each<[string, query: string, text: string]>([
		['backslashes', fill('\\', SIZE / 8), fill('\\', SIZE)],
		['an odd middle', `${fill('b', SIZE / 8)}a${fill('b', SIZE / 8)}`, fill('b', SIZE)],
	])('a text and a Callback URL: %s', (_, query, text) => {
		const param = JSON.stringify({ callBackUrl: `?${text}` });
		expectLinear(() => hideInData({ text, param }, [`?${query}`]));
	});

	it.each<[string, (bytes: number) => string]>([
		['callback URLs', (bytes) => JSON.stringify(fill('{"callBackUrl":"https://a?b"},', bytes))],
		['a link of blanks', (bytes) => `"https://cdn.example/${fill(' ', bytes)}x"`],
		['links', (bytes) => `[${fill('{"https://a.example":["https://a.example"]},', bytes)}0]`],
	])('the result of a task: %s', (_, build) => {
		const answer = `{"taskId":"task","state":"success","response":${build(SIZE)}}`;
		expectLinear(() => {
			const record = hideInData(parseServiceJson(answer), secrets);
			toTask('task', taskRecord.parse(record ?? { state: 'success' }));
		});
	});
});
