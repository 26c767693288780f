const { create, start } = require('./support');

const png = 'https://media.example/a.png';
const mp4 = 'https://media.example/a.mp4';

/** A full request of each model, as the contract lists its fields. */
const good = {
	'alpha-3.0/motion-control': {
		prompt: 'She waves.',
		input_urls: [png],
		video_urls: [mp4],
		mode: '720p',
		character_orientation: 'image',
	},
	'beta2/image-edit': {
		prompt: '',
		image_url: png,
		image_size: '16:9',
		output_format: 'png',
		seed: 7,
	},
	'gamma-v6/reference-to-video': {
		prompt: 'A fox in snow.',
		image_references: [
			{ image_url: png, type: 'subject', ref_name: 'fox' },
			{ image_url: png, type: 'background', ref_name: 'snow' },
		],
		aspect_ratio: '9:16',
		quality: '1080p',
		duration: 5,
		generate_audio_switch: false,
		seed: 0,
	},
	'delta/reference-to-video': {
		prompt: 'A fox character1 in snow.',
		reference_image: [png, png],
		resolution: '720p',
		aspect_ratio: '1:1',
		duration: 5,
		seed: 7,
	},
	'delta-1-1/reference-to-video': {
		reference_image: [png],
		prompt: 'A fox.',
		resolution: '720p',
		aspect_ratio: '1:1',
		duration: 5,
	},
};
/** The inputs without which the emulator makes no task. */
const least = {
	'alpha-3.0/motion-control': { input_urls: [png], video_urls: [mp4] },
	'beta2/image-edit': { prompt: '', image_url: png },
	'gamma-v6/reference-to-video': { image_references: [{ image_url: png }] },
	'delta/reference-to-video': { reference_image: [png] },
	'delta-1-1/reference-to-video': { reference_image: [png] },
};

const url = 'must be an http(s) URL';
const ratio = 'must be two positive integers written W:H';
const label = 'must be digits followed by p';
const integer = 'must be an integer';

/** One spoilt field, and the whole reason that is given. @type {[keyof typeof good, object, string][]} */
const spoilt = [
	['alpha-3.0/motion-control', { input_urls: undefined }, 'input.input_urls is required'],
	['alpha-3.0/motion-control', { input_urls: png }, 'input.input_urls must be an array'],
	['alpha-3.0/motion-control', { input_urls: [] }, 'input.input_urls must hold exactly one URL'],
	[
		'alpha-3.0/motion-control',
		{ input_urls: [png, png] },
		'input.input_urls must hold exactly one URL',
	],
	['alpha-3.0/motion-control', { input_urls: ['a.png'] }, `input.input_urls[0] ${url}`],
	['alpha-3.0/motion-control', { video_urls: undefined }, 'input.video_urls is required'],
	[
		'alpha-3.0/motion-control',
		{ video_urls: [mp4, mp4] },
		'input.video_urls must hold exactly one URL',
	],
	['alpha-3.0/motion-control', { video_urls: ['ftp://h/a'] }, `input.video_urls[0] ${url}`],
	['alpha-3.0/motion-control', { mode: '720' }, `input.mode ${label}`],
	[
		'alpha-3.0/motion-control',
		{ character_orientation: true },
		'input.character_orientation must be a string',
	],
	['alpha-3.0/motion-control', { seed: 1 }, 'input.seed is not known'],
	['beta2/image-edit', { prompt: undefined }, 'input.prompt is required'],
	['beta2/image-edit', { image_url: undefined }, 'input.image_url is required'],
	['beta2/image-edit', { image_url: [png] }, 'input.image_url must be a string'],
	['beta2/image-edit', { image_url: '' }, `input.image_url ${url}`],
	['beta2/image-edit', { image_size: '16x9' }, `input.image_size ${ratio}`],
	[
		'beta2/image-edit',
		{ output_format: 'PNG' },
		'input.output_format must be a lower case format label',
	],
	['beta2/image-edit', { seed: '7' }, `input.seed ${integer}`],
	['beta2/image-edit', { imageSize: '1:1' }, 'input.imageSize is not known'],
	[
		'gamma-v6/reference-to-video',
		{ image_references: undefined },
		'input.image_references is required',
	],
	[
		'gamma-v6/reference-to-video',
		{ image_references: [] },
		'input.image_references must hold at least one item',
	],
	[
		'gamma-v6/reference-to-video',
		{ image_references: [png] },
		'input.image_references[0] must be a JSON object',
	],
	[
		'gamma-v6/reference-to-video',
		{ image_references: [{ type: 'subject' }] },
		'input.image_references[0].image_url is required',
	],
	[
		'gamma-v6/reference-to-video',
		{ image_references: [{ image_url: png, refName: 'x' }] },
		'input.image_references[0].refName is not known',
	],
	['gamma-v6/reference-to-video', { quality: 'high' }, `input.quality ${label}`],
	['gamma-v6/reference-to-video', { duration: 5.5 }, `input.duration ${integer}`],
	['gamma-v6/reference-to-video', { duration: '5' }, `input.duration ${integer}`],
	[
		'gamma-v6/reference-to-video',
		{ generate_audio_switch: 'true' },
		'input.generate_audio_switch must be a boolean',
	],
	['delta/reference-to-video', { reference_image: undefined }, 'input.reference_image is required'],
	[
		'delta/reference-to-video',
		{ reference_image: [] },
		'input.reference_image must hold at least one URL',
	],
	['delta/reference-to-video', { aspect_ratio: '0:9' }, `input.aspect_ratio ${ratio}`],
	['delta/reference-to-video', { resolution: 720 }, 'input.resolution must be a string'],
	['delta/reference-to-video', { seed: null }, `input.seed ${integer}`],
	['delta/reference-to-video', { quality: '720p' }, 'input.quality is not known'],
	[
		'delta-1-1/reference-to-video',
		{ reference_image: [1] },
		'input.reference_image[0] must be a string',
	],
	['delta-1-1/reference-to-video', { prompt: 5 }, 'input.prompt must be a string'],
	['delta-1-1/reference-to-video', { seed: 1 }, 'input.seed is not known'],
];

describe('creating a task', () => {
	const accepted = {
		code: 200,
		msg: 'success',
		data: { taskId: expect.stringMatching(/^[0-9a-f]{32}$/) },
	};

	test.each(Object.entries(good))('takes the full request of %s', async (model, input) => {
		const service = await start();
		const order = { model, callBackUrl: 'http://127.0.0.1:65000/callback', input };
		service.set({ callbackRetrySeconds: [] });
		const answer = await create(service, order);
		expect(answer).toEqual(accepted);
		expect(service.tasks.get(answer.data.taskId)).toMatchObject({ ...order, request: order });
	});

	test.each(Object.entries(least))('takes the least request of %s', async (model, input) => {
		expect(await create(await start(), { model, input })).toEqual(accepted);
	});

	test('takes any input for a model under custom/', async () => {
		const input = { anything: [{ goes: null }] };
		expect(await create(await start(), { model: 'custom/other', input })).toEqual(accepted);
	});

	test('refuses each spoilt field, names it and says why', async () => {
		const service = await start();
		for (const [model, change, msg] of spoilt) {
			const input = { ...good[model], ...change };
			expect(await create(service, { model, input })).toEqual({ code: 422, msg, data: null });
		}
		expect(service.tasks.size).toBe(0);
	});

	test('names every field at fault, not only the first', async () => {
		const input = { image_size: 'wide', colour: 'red' };
		const { msg } = await create(await start(), { model: 'beta2/image-edit', input });
		expect(msg.split('; ').sort()).toEqual([
			'input.colour is not known',
			`input.image_size ${ratio}`,
			'input.image_url is required',
			'input.prompt is required',
		]);
	});

	/** @type {[string, unknown, string][]} */
	const envelopes = [
		['an array', [], 'body must be a JSON object'],
		['no model', { input: {} }, 'model is required'],
		['a model that is no text', { model: 5, input: {} }, 'model must be a string'],
		['an unknown model', { model: 'omega/x', input: {} }, 'model "omega/x" is not known'],
		[
			'an inherited name as model',
			{ model: 'toString', input: {} },
			'model "toString" is not known',
		],
		['no input', { model: 'custom/x' }, 'input is required'],
		['an input that is text', { model: 'custom/x', input: '{}' }, 'input must be a JSON object'],
		[
			'a callBackUrl that is no URL',
			{ model: 'custom/x', input: {}, callBackUrl: '' },
			`callBackUrl ${url}`,
		],
		[
			'an unknown field',
			{ model: 'custom/x', input: {}, callbackUrl: mp4 },
			'callbackUrl is not known',
		],
	];
	test.each(envelopes)('refuses a body with %s', async (_what, body, msg) => {
		expect(await create(await start(), body)).toEqual({ code: 422, msg, data: null });
	});
});
