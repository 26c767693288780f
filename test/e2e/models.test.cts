import { expect } from '@jest/globals';
import { chain, mediaGeneration, NODE } from '../../dev/fixtures/workflows.cts';
import { usePair } from './support.cts';

const pair = usePair({ service: { lookupSeconds: 0 } });

/** Our node with an operation of the resource Model. */
const model = (operation: string, parameters: object, name = NODE) => ({
	...mediaGeneration({ resource: 'model', operation, ...parameters }),
	name,
});

const getMany = model('getMany', { search: 'epsilon canvas', limit: 1 }, 'Models');
const getFields = model('getFields', { anyModel: '={{ $json.model }}' }, 'Fields');

it('a workflow finds a model, and what it takes, when it runs', async () => {
	const execution = await pair.run(chain('Models', [getMany, getFields]));
	expect(execution.readError()).toBe('');
	expect(execution.getItems('Models')).toEqual([
		{
			model: 'epsilon-canvas/text-to-image',
			title: 'Epsilon Canvas Text to Image',
			provider: 'Epsilon',
			type: 'Text to Image',
			price: expect.stringContaining('8 credits'),
			description: 'Four pictures for each prompt.',
		},
	]);
	const fields = execution.getItems<{ name: string }>('Fields');
	expect(fields.map(({ name }) => name)).toEqual([
		'prompt',
		'aspect_ratio',
		'image_resolution',
		'colors',
		'seed',
	]);
	expect(fields[2]).toEqual({
		name: 'image_resolution',
		title: 'Image Resolution',
		type: 'string',
		required: false,
		description: '4K takes three times as long.',
		options: ['1K', '2K', '4K'],
		default: '1K',
		summary: expect.stringContaining('1K, 2K, 4K'),
	});
});

it.each([
	getMany,
	{ ...getFields, parameters: { ...getFields.parameters, anyModel: 'any/model' } },
])('of a service without a catalogue, $name says so and what to do', async (node) => {
	pair.service.set({ catalogue: false });
	// A credential of its own, for which nothing of the catalogue is in memory.
	const changes = { advancedSettings: true, modelsPath: `/api/v1/models?without=${node.name}` };
	const credential = await pair.createCredential(changes);
	const execution = await pair.run(chain('None', [node]), { credential });
	expect(execution.readError()).toContain('This service lists no models and no fields');
	expect(JSON.stringify(execution)).toContain("'Models Path' in the credential");
});
