import { listTokens, listUrlSecrets, Redactor } from '../../../nodes/MediaGeneration/api/redaction';

const TOKEN = 'pk+1/2=AZy&b"c';
const RESUME = '7d0c6f0f9f2e4f6b8a1c3e5d7f9b1d3f';
const redactor = new Redactor([TOKEN, 'shorter', 'not-more', 'not-more', undefined, '']);

describe('a message', () => {
	it.each<[string, string]>([
		['as it is', TOKEN],
		['in upper case', TOKEN.toUpperCase()],
		['percent-encoded', encodeURIComponent(TOKEN)],
		['percent-encoded in small letters', encodeURIComponent(TOKEN).toLowerCase()],
		['as JSON', JSON.stringify(TOKEN).slice(1, -1)],
		['as JSON in JSON', JSON.stringify(JSON.stringify(TOKEN)).slice(3, -3)],
		['as PHP writes JSON', JSON.stringify(TOKEN).slice(1, -1).replaceAll('/', '\\/')],
		['as Go writes JSON', TOKEN.replaceAll('"', '\\"').replaceAll('&', '\\u0026')],
		['that is short', 'shorter'],
	])('hides a secret %s', (_, text) => {
		expect(redactor.hideInMessage(`a ${text} b ${text}`)).toBe('a *** b ***');
	});

	it('hides the secrets that were added, the longer of two whole', () => {
		const more = redactor.with([TOKEN, 'not-more-token']);
		expect(more.hideInMessage(`${TOKEN} not-more-token`)).toBe('*** ***');
	});

	it.each([
		TOKEN.slice(1),
		'pk+1/2, https://cdn.example/a.png?X-Signature=abc',
		'https://n8n.example/webhook-waiting/17/wait',
	])('keeps %j, which is no secret', (text) => {
		expect(redactor.hideInMessage(text)).toBe(text);
	});

	const resumeUrl = `https://n8n.example/webhook-waiting/17/wait?signature=${RESUME}`;
	it.each([
		['plain', resumeUrl, 'https://n8n.example/webhook-waiting/17/wait?***'],
		['of PHP', resumeUrl.replaceAll('/', '\\/'), /webhook-waiting\\\/17\\\/wait\?\*\*\*/],
		['percent-encoded', encodeURIComponent(resumeUrl), /webhook-waiting%2F17%2Fwait%3F\*\*\*/],
		['in JSON', JSON.stringify(JSON.stringify(resumeUrl)), /wait\?\*\*\*\\+""/],
	])('hides the query of a resume URL, %s', (_, url, shown) => {
		const text = redactor.hideInMessage(`a ${url} b`);
		expect(text).toMatch(shown);
		expect(text).toMatch(/^a .* b$/);
		expect(text).not.toContain(RESUME);
	});
});

it('data has no secret in any text or name, save short ones, and keeps all else', () => {
	const data = { a: [TOKEN, 1, null, { [TOKEN]: `x ${TOKEN}` }], shorter: 'shorter', b: true };
	const hidden = { a: ['***', 1, null, { '***': 'x ***' }], shorter: 'shorter', b: true };
	expect(redactor.hideInData(data)).toEqual(hidden);
	const odd = JSON.parse('{"__proto__":{"code":200}}') as object;
	expect(JSON.stringify(redactor.hideInData(odd))).toBe('{}');
});

it.each([
	[
		`https://ann:pass-word@n8n.example/hook?key=${RESUME}&user=7`,
		['pass-word', `?key=${RESUME}&user=7`, RESUME],
	],
	['https://n8n.example/webhook/a', []],
	['no URL', []],
])('the secrets of the URL %s are its password, query and tokens', (url, secrets) => {
	expect(listUrlSecrets(url).filter(Boolean)).toEqual(secrets);
});

it('a token is long, and has no characters of words', () => {
	expect(listTokens([RESUME, 'short', 'beta2/image-edit-of-a-model', ['x'.repeat(20)], 7])).toEqual(
		[RESUME],
	);
});
