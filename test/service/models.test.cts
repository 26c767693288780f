import { create, start } from './support.cts';

const url = 'https://media.example/a.png';
const pair = [{ image_url: url, type: 'subject', ref_name: 'fox' }, { image_url: url }];

/** Values of each kind of field: those taken, and those refused. */
const kinds: Record<string, { good: unknown[]; bad: unknown[] }> = {
	text: { good: ['A fox.', ''], bad: [5] },
	url: { good: [url, 'http://127.0.0.1:5678/a'], bad: ['', 'a.png', 'ftp://h/a.png', [url]] },
	oneUrl: { good: [[url]], bad: [url, [], [url, url], ['a.png']] },
	urls: { good: [[url], [url, url]], bad: [url, [], [url, 1]] },
	references: {
		good: [pair],
		bad: [[], [url], [{ type: 'subject' }], [{ image_url: url, refName: 'fox' }]],
	},
	ratio: { good: ['16:9'], bad: ['16x9', '0:9'] },
	resolution: { good: ['720p'], bad: ['720', 'high', 720] },
	format: { good: ['png'], bad: ['PNG'] },
	integer: { good: [0, 7], bad: ['7', 5.5, null] },
	boolean: { good: [false, true], bad: ['true'] },
};

/** The fields of each model as the contract lists them. The emulator demands those with a `!`. */
const models = {
	'alpha-3.0/motion-control': {
		prompt: 'text',
		input_urls: 'oneUrl!',
		video_urls: 'oneUrl!',
		mode: 'resolution',
		character_orientation: 'text',
	},
	'beta2/image-edit': {
		prompt: 'text!',
		image_url: 'url!',
		image_size: 'ratio',
		output_format: 'format',
		seed: 'integer',
	},
	'gamma-v6/reference-to-video': {
		prompt: 'text',
		image_references: 'references!',
		aspect_ratio: 'ratio',
		quality: 'resolution',
		duration: 'integer',
		generate_audio_switch: 'boolean',
		seed: 'integer',
	},
	'delta/reference-to-video': {
		prompt: 'text',
		reference_image: 'urls!',
		resolution: 'resolution',
		aspect_ratio: 'ratio',
		duration: 'integer',
		seed: 'integer',
	},
	'delta-1-1/reference-to-video': {
		reference_image: 'urls!',
		prompt: 'text',
		resolution: 'resolution',
		aspect_ratio: 'ratio',
		duration: 'integer',
	},
};

describe.each(Object.entries(models))('%s', (model, contract) => {
	const fields = Object.entries(contract).map(([name, kind]) => {
		const { good = [], bad = [] } = kinds[kind.replace('!', '')] ?? {};
		const mandatory = kind.endsWith('!');
		return { name, good, bad: mandatory ? [...bad, undefined] : bad, mandatory };
	});
	const fill = (of: typeof fields) =>
		Object.fromEntries(of.map((field) => [field.name, field.good[0]]));
	const full = fill(fields);

	test('takes all its fields, and the mandatory ones alone', async () => {
		const service = await start();
		const inputs = [full, fill(fields.filter(({ mandatory }) => mandatory))];
		for (const { name, good } of fields)
			inputs.push(...good.map((value) => ({ ...full, [name]: value })));
		for (const input of inputs) expect((await create(service, { model, input })).code).toBe(200);
		expect([...service.tasks.values()].map(({ input }) => input)).toEqual(inputs);
	});

	test('refuses all else, by the name of the field', async () => {
		const service = await start();
		const unknown = { name: 'seed' in contract ? 'colour' : 'seed', bad: [1] };
		for (const { name, bad } of [...fields, unknown])
			for (const value of bad) {
				const answer = await create(service, { model, input: { ...full, [name]: value } });
				expect(answer).toMatchObject({ code: 422, data: null });
				expect(answer.msg).toMatch(RegExp(`^input\\.${name}\\b[^;]* (must|is) [^;]+$`));
			}
		expect(service.tasks.size).toBe(0);
	});
});

test.each<[object, string]>([
	[[], 'body must be a JSON object'],
	[{ input: {} }, 'model is required'],
	[{ model: 5, input: {} }, 'model must be a string'],
	[{ model: 'omega/x', input: {} }, 'model "omega/x" is not known'],
	[{ model: 'toString', input: {} }, 'model "toString" is not known'],
	[{ model: 'custom/x' }, 'input is required'],
	[{ model: 'custom/x', input: '{}' }, 'input must be a JSON object'],
	[{ model: 'custom/x', input: {}, callBackUrl: '' }, 'callBackUrl must be an http(s) URL'],
	[{ model: 'custom/x', input: {}, callbackUrl: url }, 'callbackUrl is not known'],
])('the body %j is refused: %s', async (body, msg) => {
	expect(await create(await start(), body)).toEqual({ code: 422, msg, data: null });
});
