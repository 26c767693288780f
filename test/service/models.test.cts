import { create, start } from './support.cts';

const url = 'https://media.example/a.png';
const reference = { image_url: url, type: 'subject', ref_name: 'fox' };

/** Values of each kind of field: those taken, and those refused. */
const kinds: Record<string, { good: unknown[]; bad: unknown[] }> = {
	text: { good: ['A fox.', ''], bad: [5] },
	url: { good: [url, 'http://127.0.0.1:5678/a'], bad: ['', 'a.png', 'ftp://h/a.png', [url]] },
	oneUrl: { good: [[url]], bad: [url, [], [url, url], ['a.png']] },
	urls: { good: [[url], [url, url]], bad: [url, [], [url, 1]] },
	references: {
		good: [[reference, { image_url: url }]],
		bad: [[], [url], [{ type: 'subject' }], [{ image_url: url, refName: 'fox' }]],
	},
	ratio: { good: ['16:9'], bad: ['16x9', '0:9'] },
	resolution: { good: ['720p'], bad: ['720', 'high', 720] },
	format: { good: ['png'], bad: ['PNG'] },
	integer: { good: [0, 7], bad: ['7', 5.5, null] },
	boolean: { good: [false, true], bad: ['true'] },
};

const delta = {
	prompt: 'text',
	reference_image: 'urls!',
	resolution: 'resolution',
	aspect_ratio: 'ratio',
	duration: 'integer',
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
	'delta/reference-to-video': { ...delta, seed: 'integer' },
	'delta-1-1/reference-to-video': delta,
};

test.each(Object.entries(models))(
	'%s takes its fields, and nothing else',
	async (model, contract) => {
		const service = await start();
		const fields = Object.entries(contract).map(([name, kind]) => {
			const { good = [], bad = [] } = kinds[kind.replace('!', '')] ?? {};
			return { name, good, bad, mandatory: kind.endsWith('!') };
		});
		const fill = (of: typeof fields) =>
			Object.fromEntries(of.map((field) => [field.name, field.good[0]]));
		const full = fill(fields);
		const replaceWith = (key: 'good' | 'bad') =>
			fields.flatMap((field) => field[key].map((value) => ({ ...full, [field.name]: value })));

		const taken = [full, fill(fields.filter(({ mandatory }) => mandatory)), ...replaceWith('good')];
		for (const input of taken) expect((await create(service, { model, input })).code).toBe(200);
		expect([...service.tasks.values()].map(({ input }) => input)).toEqual(taken);

		const incomplete = fields.filter(({ mandatory }) => mandatory).map(({ name }) => name);
		for (const input of [
			...replaceWith('bad'),
			...incomplete.map((name) => ({ ...full, [name]: undefined })),
			{ ...full, ['seed' in contract ? 'colour' : 'seed']: 1 },
		])
			expect(await create(service, { model, input })).toMatchObject({ code: 422, data: null });
		expect(service.tasks.size).toBe(taken.length);
	},
);

test.each<[object, string]>([
	[[], 'Expected object'],
	[{ input: {} }, 'model: Required'],
	[{ model: 'toString', input: {} }, 'model "toString" is not known'],
	[{ model: 'custom/x' }, 'input: Required'],
	[{ model: 'custom/x', input: {}, callBackUrl: '' }, 'callBackUrl: Invalid url'],
	[{ model: 'custom/x', input: {}, callbackUrl: url }, "Unrecognized key(s) in object: 'callback"],
	[{ model: 'beta2/image-edit', input: { prompt: '' } }, 'input.image_url: Required'],
])('the body %j is refused: %s', async (body, msg) => {
	const answer = { code: 422, msg: expect.stringContaining(msg) as string, data: null };
	expect(await create(await start(), body)).toEqual(answer);
});
