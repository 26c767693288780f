import { start } from '../../../nodes/MediaGeneration/operations/start';
import { readReference } from '../../../nodes/MediaGeneration/callback/reference';
import { buildContext, buildItem } from '../n8n';

describe('a body that is pasted into Input', () => {
	const input = { prompt: 'A fox' };
	const prepareBody = async (callbackUrl: string, callBackUrl: unknown) => {
		const body = { model: 'brand/any', input, callBackUrl };
		const values: Record<string, unknown> = {
			model: 'any',
			anyModel: 'brand/any',
			inputMode: 'json',
		};
		const all: Record<string, unknown> = { ...values, anyInput: body, callbackUrl };
		const item = buildItem(buildContext(), 0);
		return await start.request({ ...item, read: (name) => all[name] });
	};

	it.each([
		['', 'https://body.example/', 'https://body.example/'],
		['https://field.example/', 'https://body.example/', 'https://field.example/'],
		['https://field.example/', 'no URL', 'https://field.example/'],
		[' ', ' ', undefined],
		['', null, undefined],
	])(
		'with Callback URL %j and the callBackUrl %j is called back at %j',
		async (field, own, url) => {
			expect(await prepareBody(field, own)).toMatchObject({
				model: 'brand/any',
				input,
				callBackUrl: url,
			});
		},
	);

	it('with a callBackUrl that is none is refused', async () => {
		await expect(prepareBody('', 'my-webhook')).rejects.toThrow(
			"'callBackUrl in Input (JSON)' must be a URL",
		);
	});
});

it('a callback URL that is none is refused', async () => {
	const item = buildItem(buildContext(), 0);
	const read = () => 'my-webhook';
	await expect(start.request({ ...item, read })).rejects.toThrow("'Callback URL' must be a URL");
});

describe('Reference', () => {
	const webhookSecret = 'whk_test_key';
	const URL_OF_TRIGGER = 'https://n8n.example/webhook/abc/webhook';
	const prepare = async (
		reference: unknown,
		callbackUrl = URL_OF_TRIGGER,
		credentials: object = { webhookSecret },
		body: object = {},
	) => {
		const values: Record<string, unknown> = {
			model: 'any',
			anyModel: 'brand/any',
			inputMode: 'json',
			anyInput: { model: 'brand/any', input: { prompt: 'A fox' }, ...body },
			callbackUrl,
		};
		const options = { reference };
		const item = buildItem(buildContext(), 0, { credentials, options });
		const { callBackUrl = '' } = await start.request({ ...item, read: (name) => values[name] });
		const sent = new URL(callBackUrl).searchParams.get('reference');
		return { callBackUrl, text: readReference(sent, { current: webhookSecret }) };
	};

	it.each([
		['a text with blanks around', ' a\nb ', ' a\nb '],
		['a number', -1001234567890, '-1001234567890'],
		['a row', { row: 2, name: 'Ä' }, '{"row":2,"name":"Ä"}'],
		['500 bytes', 'a'.repeat(500), 'a'.repeat(500)],
	])('%s goes into the callback URL, signed', async (_, reference, text) => {
		expect((await prepare(reference)).text).toBe(text);
	});

	it('goes into a callback URL that was pasted, beside its own query', async () => {
		const callBackUrl = `${URL_OF_TRIGGER}?token=1#x`;
		const sent = await prepare('42', '', undefined, { callBackUrl });
		expect(sent.text).toBe('42');
		expect(sent.callBackUrl).toMatch(/\?token=1&reference=[^#]+#x$/);
	});

	it('that was not added leaves the callback URL as it is', async () => {
		const { callBackUrl } = await prepare(undefined, `${URL_OF_TRIGGER}?reference=1`, {});
		expect(callBackUrl).toBe(`${URL_OF_TRIGGER}?reference=1`);
	});

	const OWN_NAME = "adds a parameter 'reference', and the callback URL has one already";
	const NO_KEY = "can't be signed, because the credential has no 'Webhook HMAC Key'";
	it.each<[string, string, unknown, string?, object?]>([
		['has 501 bytes in UTF-8, and may have at most 500', '501 characters', 'a'.repeat(501)],
		['has 504 bytes in UTF-8', '126 foxes', '🦊'.repeat(126)],
		['must be text, but is blank', 'blank', ' '],
		['must be text', 'a number that lost digits', 2 ** 60],
		["is part of the callback URL, and 'Callback URL' is blank", 'without a URL', '42', ''],
		[OWN_NAME, 'beside one of the URL', '42', `${URL_OF_TRIGGER}?a=1&reference=%41`],
		[OWN_NAME, 'beside a list of the URL', '42', `${URL_OF_TRIGGER}?reference%5B%5D=1`],
		[NO_KEY, 'without a key', '42', undefined, {}],
		[NO_KEY, 'with the previous key alone', '42', undefined, { previousWebhookSecret: 'old' }],
	])("'Reference' in Options %s: %s is refused", async (reason, _, reference, ...more) => {
		const refused = prepare(reference, ...more);
		await expect(refused).rejects.toThrow(`'Reference' in Options ${reason}`);
		await expect(refused).rejects.toMatchObject({
			description: expect.stringMatching(/^Nothing was sent for this item\. \w/),
		});
	});
});
