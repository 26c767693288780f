import { readReference } from '../../../nodes/MediaGeneration/callback/reference';
import { startOperation } from '../../../nodes/MediaGeneration/operations/start';
import { buildContext, buildItem } from '../n8n';

const webhookSecret = 'whk_test_key';
const URL_OF_TRIGGER = 'https://n8n.example/webhook/abc/webhook';

/** Prepares a body that is pasted into Input. */
async function prepare(
	callbackUrl: string,
	body: object = {},
	{ reference, ...credentials }: { reference?: unknown; webhookSecret?: string } = {},
) {
	const values: Record<string, unknown> = {
		model: 'any',
		anyModel: 'brand/any',
		inputMode: 'json',
		anyInput: { model: 'brand/any', input: { prompt: 'A fox' }, ...body },
		callbackUrl,
	};
	const context = buildContext({ parameters: values });
	const item = buildItem(context, 0, { credentials, options: { reference } });
	return (await startOperation.buildRequest({ ...item, read: (name) => values[name] })).callBackUrl;
}

it.each([
	['', 'https://body.example/', 'https://body.example/'],
	['https://field.example/', 'no URL', 'https://field.example/'],
	[' ', ' ', undefined],
	['', null, undefined],
])('Callback URL %j and a pasted callBackUrl %j give %j', async (field, callBackUrl, url) => {
	expect(await prepare(field, { callBackUrl })).toBe(url);
});

it.each([
	['', 'my-webhook', "'callBackUrl in Input (JSON)' must be a URL"],
	['my-webhook', undefined, "'Callback URL' must be a URL"],
])('a callback URL that is no URL is an error: %#', async (field, callBackUrl, message) => {
	await expect(prepare(field, { callBackUrl })).rejects.toThrow(message);
});

describe('Reference', () => {
	it.each([
		['a text with blanks around', ' a\nb ', ' a\nb '],
		['a number', -1001234567890, '-1001234567890'],
		['a row', { row: 2, name: 'Ä' }, '{"row":2,"name":"Ä"}'],
		['500 bytes', 'a'.repeat(500), 'a'.repeat(500)],
	])('%s goes into the callback URL, signed, beside its own query', async (_, reference, text) => {
		const callBackUrl = `${URL_OF_TRIGGER}?token=1#x`;
		const sent = await prepare('', { callBackUrl }, { webhookSecret, reference });
		expect(sent).toMatch(/\?token=1&reference=[^#]+#x$/);
		const parameter = new URL(sent ?? '').searchParams.get('reference');
		expect(readReference(parameter, { current: webhookSecret })).toBe(text);
	});

	it('that was not added leaves the callback URL as it is', async () => {
		expect(await prepare(`${URL_OF_TRIGGER}?reference=1`)).toBe(`${URL_OF_TRIGGER}?reference=1`);
	});

	it.each<[string, unknown, string?, object?]>([
		['has 504 bytes in UTF-8, and may have at most 500', '🦊'.repeat(126)],
		['must be text, but is blank', ' '],
		['must be text', 2 ** 60],
		["is part of the callback URL, and 'Callback URL' is blank", '42', ''],
		["can't be signed, because the credential has no 'Webhook HMAC Key'", '42', URL_OF_TRIGGER, {}],
	])(
		"'Reference' in Options %s: refused",
		async (reason, reference, url = URL_OF_TRIGGER, keys = { webhookSecret }) => {
			await expect(prepare(url, {}, { ...keys, reference })).rejects.toMatchObject({
				message: expect.stringContaining(`'Reference' in Options ${reason}`),
				description: expect.stringMatching(/^Nothing was sent for this item\. \w/),
			});
		},
	);
});
