import { NodeHelpers, type INodeProperties } from 'n8n-workflow';
import { models } from '../../../nodes/MediaGeneration/models';
import {
	describeModels,
	listModelProperties,
} from '../../../nodes/MediaGeneration/models/builders';

const withoutConditions = (properties: INodeProperties[]) =>
	properties.map((property) => ({
		...property,
		displayOptions: undefined,
		builderHint: undefined,
	}));

/** The properties that n8n's editor shows when a model is chosen. */
const listShown = (model: string, parameters: object = {}) =>
	listModelProperties(models).filter((property) =>
		NodeHelpers.displayParameter({ model, ...parameters }, property, null, null),
	);

it.each(models.filter(({ id }) => id !== 'any'))(
	'the panel shows the fields of $id for it, in its order and words',
	({ id, properties }) => {
		expect(withoutConditions(listShown(id))).toEqual(withoutConditions(properties));
	},
);

it.each([
	['fields', ['anyModel', 'prompt', 'inputMode', 'anyFields']],
	['json', ['anyModel', 'prompt', 'inputMode', 'jsonGuide', 'anyInput']],
])('the panel shows no field of a listed model for Any Model with %s', (inputMode, names) => {
	const anyModel = { __rl: true, mode: 'id', value: 'epsilon-2/text-to-video' };
	const shown = listShown('any', { anyModel, inputMode });
	expect(shown.map(({ name }) => name)).toEqual(names);
});

it.each(['', 'vendor/model'])('the input of the model "%s" is shown once it is chosen', (value) => {
	const anyModel = { mode: 'list', value };
	const names = listShown('any', { anyModel, inputMode: 'fields' }).map(({ name }) => name);
	for (const name of ['inputMode', 'anyFields'])
		expect([name, names.includes(name)]).toEqual([name, value !== '']);
});

it.each([
	['fields', false],
	['json', true],
])(
	'a model without a prompt, chosen for Fields, leaves the prompt shown with %s: %p',
	(inputMode, isShown) => {
		const anyFields = { mappingMode: 'defineBelow', value: { $noPrompt: true }, schema: [] };
		const names = listShown('any', { inputMode, anyFields }).map(({ name }) => name);
		expect(names.includes('prompt')).toBe(isShown);
	},
);

it('the hint of model has the parameters of each model, with the choices of those that have some', () => {
	const lines = describeModels(models).split('\n');
	for (const { id, properties } of models) {
		const line = lines.find((one) => one.startsWith(`${id}: `)) ?? '';
		for (const { name, required } of properties.filter(({ type }) => type !== 'notice'))
			expect(line).toMatch(new RegExp(`[ ]${name}${required ? ' \\(required' : ''}`));
	}
	expect(describeModels(models)).toContain("mode ('720p' | '1080p')");
	expect(describeModels(models)).not.toMatch(/ prompt, prompt/);
});
