import { parseAnswer } from '../../../nodes/MediaGeneration/api/exchange';
import { listUrlSecrets, Redactor } from '../../../nodes/MediaGeneration/api/redaction';

const TOKEN = 'pk+1/2=AZy&b"c';
const RESUME = '7d0c6f0f9f2e4f6b8a1c3e5d7f9b1d3f';
const CALLED_BACK = `https://n8n.example/webhook-waiting/17/wait?signature=${RESUME}`;
const redactor = new Redactor([TOKEN, 'shorter', 'not-more', undefined, '']);

/** Writes each character by its code. */
const encode = (text: string, write: (code: string, character: string) => string) =>
	[...text].map((one) => write(one.charCodeAt(0).toString(16).padStart(2, '0'), one)).join('');

describe('a message', () => {
	it.each<[string, string]>([
		['as it is', TOKEN],
		['in upper case', TOKEN.toUpperCase()],
		['percent-encoded', encodeURIComponent(TOKEN)],
		['percent-encoded twice', encodeURIComponent(encodeURIComponent(TOKEN))],
		['wholly percent-encoded', encode(TOKEN, (code) => `%${code}`)],
		['as JSON', JSON.stringify(TOKEN).slice(1, -1)],
		['as JSON in JSON', JSON.stringify(JSON.stringify(TOKEN)).slice(3, -3)],
		['as PHP writes JSON', JSON.stringify(TOKEN).slice(1, -1).replaceAll('/', '\\/')],
		['as Go writes JSON', TOKEN.replaceAll('"', '\\"').replaceAll('&', '\\u0026')],
		['wholly escaped', encode(TOKEN, (code) => `\\u00${code}`)],
		['as HTML', TOKEN.replaceAll('&', '&amp;').replaceAll('"', '&#34;')],
		['as hexadecimal HTML', encode(TOKEN, (code) => `&#x${code};`)],
		['that is short', 'shorter'],
	])('hides a secret %s', (_, text) => {
		expect(redactor.hideInMessage(`a ${text} b ${text}`)).toBe('a *** b ***');
	});

	it.each(['\\u ', '\\u00', '%', '%2', '%25', '&#', '&#x'])('hides a secret after %j', (text) => {
		expect(redactor.hideInMessage(`a ${text}${TOKEN}`)).toBe(`a ${text}***`);
	});

	it('hides the secrets that were added, also with one that is known', () => {
		const more = redactor.with([TOKEN, 'another-token']);
		expect(more.hideInMessage(`${TOKEN} another-token`)).toBe('*** ***');
	});

	it('keeps what is no secret', () => {
		const rest = TOKEN.slice(1);
		const text = `pk+1/2, u0070${rest}, x#112;${rest}, https://cdn.example/a.png?X-Signature=abc`;
		expect(redactor.hideInMessage(text)).toBe(text);
	});

	it.each<[string, string, string]>([
		['a resume URL', CALLED_BACK, 'https://n8n.example/webhook-waiting/17/wait?***'],
		[
			'an encoded one',
			encodeURIComponent(CALLED_BACK),
			'https%3A%2F%2Fn8n.example%2Fwebhook-waiting%2F17%2Fwait%3F***',
		],
		[
			'one in JSON',
			JSON.stringify({ url: CALLED_BACK, a: 1 }),
			'{"url":"https://n8n.example/webhook-waiting/17/wait?***","a":1}',
		],
		[
			'one in JSON of PHP, in JSON',
			JSON.stringify(`"${CALLED_BACK.replaceAll('/', '\\/')}"`),
			String.raw`"\"https:\\/\\/n8n.example\\/webhook-waiting\\/17\\/wait?***\""`,
		],
	])('hides the query of %s, whoever sent it', (_, text, shown) => {
		expect(new Redactor([]).hideInMessage(text)).toBe(shown);
	});
});

describe('data', () => {
	it('hides secrets in names and texts, save short ones, which any word may hold', () => {
		const data = { [TOKEN]: [TOKEN, { shorter: 'xnot-more' }, 7, null, true] };
		expect(redactor.hideInData(data)).toEqual({
			'***': ['***', { shorter: 'x***' }, 7, null, true],
		});
	});

	const url = `https://ann:pass-word@n8n.example/webhook/a?${'q=1&token'}=${RESUME}`;
	const param = JSON.stringify({ model: 'm', callBackUrl: url, input: { prompt: 'a\nb' } });

	it.each<[string, object]>([
		['text', { param }],
		['an object', { param: JSON.parse(param) as object }],
		['JSON in JSON', { param: JSON.stringify(param) }],
		['another name', { call_back_url: url }],
	])('hides the secrets of the callback URL that a record has as %s', (_, record) => {
		const echo = `no answer from ${url}, ${encodeURIComponent(url)}, token ${RESUME}`;
		const body = { code: 200, data: { ...record, taskId: 'task', failMsg: echo } };
		const shown = parseAnswer(JSON.stringify(body), new Redactor([]));
		const text = JSON.stringify(shown);
		expect(text).not.toContain(RESUME);
		expect(text).not.toContain('pass-word');
		expect(text).not.toContain('q=1');
		expect(text).toContain('n8n.example/webhook/a');
		expect(shown).toMatchObject({ code: 200, data: { taskId: 'task' } });
	});

	it('keeps the rest of such a record as it is', () => {
		const shown = parseAnswer(JSON.stringify({ param }), new Redactor([])) as { param: string };
		expect(JSON.parse(shown.param)).toEqual({
			model: 'm',
			callBackUrl: 'https://***n8n.example/webhook/a***',
			input: { prompt: 'a\nb' },
		});
	});

	it('takes no word of a query for a secret by itself', () => {
		expect(listUrlSecrets('https://n8n.example/webhook/a?model=beta2/image-edit&user=7')).toEqual([
			'?model=beta2/image-edit&user=7',
		]);
		expect(listUrlSecrets('no URL')).toEqual([]);
		expect(listUrlSecrets('https://n8n.example/webhook/a')).toEqual([]);
		const many = [...'abcdefg'].map((name) => `${name}=${name}${RESUME}`).join('&');
		expect(listUrlSecrets(`https://n8n.example/?${many}`)).toHaveLength(6);
	});
});

it.each<[string, string]>([
	['slashes', '/'],
	['backslashes', '\\'],
	['percent signs', '%25'],
	['resume URLs without a query', '/webhook-waiting/'],
	['ampersands', '&amp;'],
	['half a secret', TOKEN.slice(0, -1)],
])('megabytes of %s take seconds, not hours', (_, text) => {
	const long = text.repeat(4_000_000 / text.length);
	const begun = performance.now();
	expect(redactor.with([RESUME]).hideInMessage(long)).toHaveLength(long.length);
	expect(performance.now() - begun).toBeLessThan(10_000);
});

it('a secret of backslashes, or of other letters, stops nothing', () => {
	const secrets = new Redactor([
		'\\\\',
		'ÄÖÜ-İ-secret',
		'ends-so\\',
		'_a-secret',
		'a;b-secret',
		'x%zz-secret',
	]);
	expect(secrets.hideInMessage('\\\\ İ%c4 ÄÖÜ-İ-SECRET b')).toBe('\\\\ İ%c4 *** b');
	expect(secrets.hideInMessage('ends-so\\')).toBe('***');
	expect(secrets.hideInMessage('%_a-secret &#a;b-secret x%25zz-secret')).toBe('%*** &#*** ***');
});

it('a long secret is hidden to its end, and many long ones stop nothing', () => {
	const long = new Redactor(['x'.repeat(5_000)]);
	expect(long.hideInMessage(`a ${'x'.repeat(5_000)} b`)).toBe('a *** b');
	const urls = Array.from({ length: 1_000 }, (_, index) => {
		const token = `${index}-${'token'.repeat(1_000)}`;
		return `https://n8n.example/webhook/a?one=${token}&two=${token}2`;
	});
	const body = JSON.stringify(urls.map((callBackUrl) => ({ callBackUrl })));
	expect(JSON.stringify(parseAnswer(body, redactor))).toContain('https://n8n.example/webhook/a***');
});
