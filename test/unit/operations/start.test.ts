import { start } from '../../../nodes/MediaGeneration/operations/start';
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
			expect(await prepareBody(field, own)).toEqual({
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

it('Start Without Waiting waits for nothing', () => {
	expect(start.readSettings).toBeUndefined();
});
