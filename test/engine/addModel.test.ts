import type { INodeParameters, INodeProperties } from 'n8n-workflow';
import type { Service } from '../../dev/service/index.cts';
import { run } from './engine';
import { follow } from './workedExample.cts';

type NodeModule = typeof import('../../nodes/MediaGeneration/MediaGeneration.node');
type Emulator = typeof import('../../dev/service/index.cts');

let example: ReturnType<typeof follow>;
let service: Service;
let MediaGeneration: NodeModule['MediaGeneration'];

beforeAll(async () => {
	example = follow('Add a model');
	const node = 'nodes/MediaGeneration/MediaGeneration.node.ts';
	({ MediaGeneration } = await example.load<NodeModule>(node));
	const { startService } = await example.load<Emulator>('dev/service/index.cts');
	service = await startService({ token: 'a-token', taskSeconds: 0.1 });
});

afterAll(async () => {
	await service?.close();
	example?.remove();
});

const create = async (parameters: INodeParameters) =>
	await run({
		type: new MediaGeneration(),
		parameters: { resource: 'task', operation: 'create', model: 'epsilon/upscale', ...parameters },
		credentials: { baseUrl: service.url, accessToken: 'a-token' },
	});

const image = 'https://media.example/photo.png';

describe('the worked example of CONTRIBUTING.md, followed to the letter', () => {
	it('takes one file of the package, and its place in the list', () => {
		expect(example.files).toEqual([
			'nodes/MediaGeneration/models/epsilonUpscale.ts',
			'nodes/MediaGeneration/models/index.ts',
			'test/unit/models/index.test.ts',
			'dev/service/models.cts',
		]);
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

	it.each<INodeParameters>([{}, { seed: 7 }])('creates a task of an image and %j', async (seed) => {
		const { output } = await create({ image, ...seed });
		expect(output[0]).toMatchObject([{ json: { model: 'epsilon/upscale', status: 'pending' } }]);
		const { model, input } = [...service.tasks.values()].at(-1) ?? {};
		expect([model, input]).toEqual(['epsilon/upscale', { image_url: image, ...seed }]);
	});
});
