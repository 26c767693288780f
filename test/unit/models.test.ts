import type { INodePropertyOptions } from 'n8n-workflow';
import { models } from '../../nodes/MediaGeneration/models';
import { toRequestKey } from '../../nodes/MediaGeneration/models/field';
import { findMedia } from '../../nodes/MediaGeneration/models/media';

type Values = Record<string, unknown>;

const image = 'https://media.example/subject.png';
const second = 'https://media.example/background.jpg';
const video = 'https://media.example/motion.mp4';

/** The contract's field table of each model: what a user fills in, and the `input` that the service takes for it. */
const contract: Record<string, { filled: Values; input: Values }> = {
	'alpha-3.0/motion-control': {
		filled: { image, video, prompt: 'Dance', mode: '720p', characterOrientation: 'image' },
		input: {
			input_urls: [image],
			video_urls: [video],
			prompt: 'Dance',
			mode: '720p',
			character_orientation: 'image',
		},
	},
	'beta2/image-edit': {
		filled: { image, prompt: 'Night', imageSize: '16:9', outputFormat: 'png', seed: 7 },
		input: { image_url: image, prompt: 'Night', image_size: '16:9', output_format: 'png', seed: 7 },
	},
	'delta-1-1/reference-to-video': {
		filled: {
			referenceImages: [image, second],
			prompt: 'A knight character1',
			resolution: '1080p',
			aspectRatio: '9:16',
			duration: 8,
		},
		input: {
			reference_image: [image, second],
			prompt: 'A knight character1',
			resolution: '1080p',
			aspect_ratio: '9:16',
			duration: 8,
		},
	},
	'delta/reference-to-video': {
		filled: {
			referenceImages: [image],
			prompt: 'A knight character1',
			resolution: '720p',
			aspectRatio: '16:9',
			duration: 5,
			seed: 0,
		},
		input: {
			reference_image: [image],
			prompt: 'A knight character1',
			resolution: '720p',
			aspect_ratio: '16:9',
			duration: 5,
			seed: 0,
		},
	},
	'gamma-v6/reference-to-video': {
		filled: {
			imageReferences: {
				reference: [
					{ image, type: 'subject', refName: 'hero' },
					{ image: second, type: '', refName: '' },
				],
			},
			prompt: 'The hero walks',
			aspectRatio: '16:9',
			quality: '540p',
			duration: 5,
			generateAudio: true,
			seed: 42,
		},
		input: {
			image_references: [
				{ image_url: image, type: 'subject', ref_name: 'hero' },
				{ image_url: second },
			],
			prompt: 'The hero walks',
			aspect_ratio: '16:9',
			quality: '540p',
			duration: 5,
			generate_audio_switch: true,
			seed: 42,
		},
	},
};

const model = (id: string) => {
	const found = models.find((one) => one.id === id);
	if (!found) throw new Error(`no model ${id}`);
	return found;
};

/** A request as JSON: files are given as the user named them. */
const asSent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const request = async (id: string, values: Values) =>
	await model(id).request(
		(name) => values[name],
		() => undefined,
	);

describe.each(Object.entries(contract))('%s', (id, { filled, input }) => {
	it('asks for what the contract names, no more and no less', () => {
		expect(model(id).fields.map(toRequestKey).sort()).toEqual(Object.keys(input).sort());
		expect(
			model(id)
				.fields.map(({ name }) => name)
				.sort(),
		).toEqual(Object.keys(filled).sort());
	});

	it('sends what is filled in under the names of the contract', async () => {
		expect(asSent(await request(id, filled))).toEqual({ model: id, input });
	});

	it('sends nothing of what is left blank but is not required', async () => {
		const required = model(id).fields.filter((field) => field.required);
		const kept = Object.fromEntries(required.map(({ name }) => [name, filled[name]]));
		const sent = [...required.map(toRequestKey), ...(id === 'beta2/image-edit' ? ['prompt'] : [])];
		expect(Object.keys((await request(id, kept)).input).sort()).toEqual(sent.sort());
	});

	it('names each required field that is missing', async () => {
		for (const { name, displayName } of model(id).fields.filter((field) => field.required))
			await expect(request(id, { ...filled, [name]: undefined })).rejects.toThrow(
				`'${displayName}' is required`,
			);
	});

	it('accepts its own defaults', async () => {
		const defaults = Object.fromEntries(
			model(id)
				.fields.filter((field) => !field.required)
				.map((field) => [field.name, field.default]),
		);
		await expect(request(id, { ...filled, ...defaults })).resolves.toBeDefined();
	});

	it('sends each value of its dropdowns, and takes any other', async () => {
		for (const { name, type, options = [], allowArbitraryValues } of model(id).fields) {
			if (type !== 'options' || id === 'custom') continue;
			expect(allowArbitraryValues).toBe(true);
			for (const option of options)
				await expect(
					request(id, { ...filled, [name]: (option as INodePropertyOptions).value }),
				).resolves.toBeDefined();
		}
	});

	it('shows its fields for itself only', () => {
		for (const property of model(id).properties) {
			expect(property.displayOptions?.show?.model).toEqual([id]);
			expect(property).not.toHaveProperty('send');
		}
	});
});

describe('values that cannot be sent', () => {
	it.each<[string, Values, string]>([
		['alpha-3.0/motion-control', { image: 'file:///subject.png' }, "'Image' must be a URL"],
		['alpha-3.0/motion-control', { image: 'ftp://media.example/a.png' }, "'Image' must be a URL"],
		['alpha-3.0/motion-control', { video: 'https://a b' }, "'Video' must be a URL"],
		['alpha-3.0/motion-control', { mode: 'high' }, "'Mode' must be digits followed by p"],
		['beta2/image-edit', { imageSize: '16x9' }, "'Image Size' must be a ratio"],
		['beta2/image-edit', { imageSize: '0:9' }, "'Image Size' must be a ratio"],
		['beta2/image-edit', { outputFormat: 'PNG' }, "'Output Format' must be one word in lower case"],
		['beta2/image-edit', { seed: 1.5 }, "'Seed' must be a whole number"],
		['beta2/image-edit', { seed: 'lucky' }, "'Seed' must be a whole number"],
		[
			'delta/reference-to-video',
			{ referenceImages: ['', ' '] },
			"'Reference Images' needs at least one",
		],
		[
			'delta/reference-to-video',
			{ referenceImages: [image, 'x://y'] },
			"'Reference Images 2' must be a URL",
		],
		['delta/reference-to-video', { duration: 0 }, "'Duration' must be at least 1"],
		['delta/reference-to-video', { duration: '5s' }, "'Duration' must be a whole number"],
		['delta/reference-to-video', { prompt: { text: 'no' } }, "'Prompt' must be text"],
		['gamma-v6/reference-to-video', { imageReferences: {} }, 'Image References'],
		[
			'gamma-v6/reference-to-video',
			{ imageReferences: { reference: [{ image }, { image: 'x://y' }] } },
			"'Image References › Reference 2 › Image' must be a URL",
		],
		[
			'gamma-v6/reference-to-video',
			{ generateAudio: 'maybe' },
			"'Generate Audio' must be true or false",
		],
	])('%s refuses %j', async (id, values, message) => {
		await expect(request(id, { ...contract[id]?.filled, ...values })).rejects.toThrow(message);
	});
});

describe('values that an expression gives in another form', () => {
	it.each<[string, Values, string, unknown]>([
		['delta/reference-to-video', { duration: '8' }, 'duration', 8],
		['delta/reference-to-video', { referenceImages: image }, 'reference_image', [image]],
		[
			'delta/reference-to-video',
			{ referenceImages: [[image, second]] },
			'reference_image',
			[image, second],
		],
		['delta/reference-to-video', { prompt: 7 }, 'prompt', '7'],
		['delta/reference-to-video', { resolution: ' 720p ' }, 'resolution', '720p'],
		['gamma-v6/reference-to-video', { generateAudio: 'false' }, 'generate_audio_switch', false],
	])('%s takes %j', async (id, values, key, sent) => {
		expect(asSent((await request(id, { ...contract[id]?.filled, ...values })).input[key])).toEqual(
			sent,
		);
	});
});

describe('what a user must fill in, and the limits of its files', () => {
	it.each([
		['alpha-3.0/motion-control', ['image', 'video']],
		['beta2/image-edit', ['image']],
		['delta-1-1/reference-to-video', ['referenceImages']],
		['delta/reference-to-video', ['referenceImages']],
		['gamma-v6/reference-to-video', ['imageReferences']],
	])('%s requires %j', (id, names) => {
		const required = model(id).fields.filter((field) => field.required);
		expect(required.map(({ name }) => name)).toEqual(names);
	});

	it('has the limits of the contract for the files of Alpha 3.0, and none for others', async () => {
		const sides = { minSide: 340, aspect: { min: 0.4, max: 2.5 } };
		const requests = await Promise.all(
			Object.entries(contract).map(async ([id, { filled }]) => await request(id, filled)),
		);
		const limits = requests.flatMap(({ input }) => findMedia(input).map((media) => media.limits));
		expect(limits.filter(Boolean)).toEqual([
			{ ...sides, formats: ['jpeg', 'png'], maxBytes: 10 * 1024 ** 2 },
			{
				...sides,
				formats: ['mp4', 'quicktime'],
				maxBytes: 100 * 1024 ** 2,
				duration: { min: 3, max: 30 },
			},
		]);
	});

	it('names the field of a file', async () => {
		const { input } = await request('alpha-3.0/motion-control', {
			...contract['alpha-3.0/motion-control']?.filled,
		});
		expect(findMedia(input).map(({ label }) => label)).toEqual(['Image', 'Video']);
	});
});

describe('custom', () => {
	it('sends any model with its input as it is', async () => {
		expect(
			await request('custom', { customModel: ' eps/video ', customInput: '{"a": [1]}' }),
		).toEqual({
			model: 'eps/video',
			input: { a: [1] },
		});
	});

	it('takes the input from an expression as an object', async () => {
		const values = { customModel: 'eps/video', customInput: { a: 1 } };
		expect((await request('custom', values)).input).toEqual({ a: 1 });
	});

	it.each(['{', '[1]', '"text"', '7', 'null'])('refuses the input %s', async (customInput) => {
		await expect(request('custom', { customModel: 'eps/video', customInput })).rejects.toThrow(
			"'Input' must be a JSON object",
		);
	});
});

describe('the list of models', () => {
	it('is in the order of their names', () => {
		const names = models.map(({ name }) => name);
		expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b)));
	});

	it('has every model of the contract, and the custom one', () => {
		expect(models.map(({ id }) => id).sort()).toEqual([...Object.keys(contract), 'custom'].sort());
	});
});
