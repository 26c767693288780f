import type { INodeProperties } from 'n8n-workflow';
import type { Service } from '../../dev/service/index.cts';
import { run } from './engine';
import { follow } from './workedExample.cts';

let example: ReturnType<typeof follow>;
let service: Service;
let MediaGeneration: Awaited<ReturnType<typeof example.loadNode>>;

beforeAll(async () => {
	example = follow('Add a model');
	await example.run('typescript/bin/tsc', '-p', 'tsconfig.json');
	MediaGeneration = await example.loadNode();
	const { startService } = await example.loadEmulator();
	service = await startService({ token: 'a-token', taskSeconds: 0.1 });
});

afterAll(async () => {
	await service?.close();
	example?.remove();
});

const create = async (parameters: Record<string, string | number>) =>
	await run({
		type: new MediaGeneration(),
		parameters: { resource: 'task', operation: 'create', model: 'epsilon/upscale', ...parameters },
		credentials: { baseUrl: service.url, accessToken: 'a-token' },
	});

/** The request that the service took last, as it came in. */
const sent = () => {
	const { model, input } = [...service.tasks.values()].at(-1) ?? {};
	return { model, input };
};

const image = 'https://media.example/photo.png';

describe('the worked example of CONTRIBUTING.md, followed to the letter', () => {
	it('takes one file of the package, and its place in the list', () => {
		expect(example.files).toEqual([
			'nodes/MediaGeneration/models/epsilonUpscale.ts',
			'nodes/MediaGeneration/models/index.ts',
			'test/unit/models.test.ts',
			'dev/service/models.cts',
		]);
	});

	it('keeps to the lint rules and the format', async () => {
		await example.run('eslint/bin/eslint.js', ...example.files);
		await example.run('prettier/bin/prettier.cjs', '--check', ...example.files);
	});

	it('stands the tests of the models', async () => {
		const { files, run: runTool } = example;
		const tests = files.filter((file) => file.startsWith('test/'));
		expect(await runTool('jest/bin/jest.js', '--verbose', ...tests)).toMatch(
			/^ +epsilon\/upscale$/m,
		);
	});

	it('shows the model and its fields in the editor, and its name on the canvas', () => {
		const { description } = new MediaGeneration();
		const model = description.properties.find(({ name }) => name === 'model');
		expect(model?.options).toContainEqual({
			name: 'Epsilon Upscale',
			value: 'epsilon/upscale',
			description: 'Enlarges an image',
		});
		const fields = description.properties.filter(({ displayOptions }: INodeProperties) =>
			displayOptions?.show?.model?.includes('epsilon/upscale'),
		);
		expect(fields.map(({ displayName, required }) => [displayName, required])).toEqual([
			['Image', true],
			['Seed', undefined],
		]);
		expect(description.subtitle).toContain('"epsilon/upscale":"Epsilon Upscale"');
	});

	it('refuses an item without an image, and one whose image is no URL', async () => {
		expect((await create({ image: '={{ "" }}' })).error?.message).toBe(
			"'Image' is required [item 0]",
		);
		expect((await create({ image: 'ftp://x' })).error?.message).toContain("'Image' must be a URL");
		expect(service.tasks.size).toBe(0);
	});

	it.each([
		[{ image }, { image_url: image }],
		[
			{ image, seed: 7 },
			{ image_url: image, seed: 7 },
		],
	])('creates a task of %j', async (parameters, input) => {
		const { output, error } = await create(parameters);
		expect(error).toBeUndefined();
		expect(output[0]?.[0]?.json).toMatchObject({ model: 'epsilon/upscale', status: 'pending' });
		expect(sent()).toEqual({ model: 'epsilon/upscale', input });
	});
});
