import { NodeHelpers, type INodeParameters, type INodeProperties } from 'n8n-workflow';
import { operationProperties } from '../../../nodes/MediaGeneration/editor/properties';
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
	listModelProperties(models).filter(
		(property) =>
			property.type !== 'hidden' &&
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
	const anyModel = { mode: 'id', value };
	const names = listShown('any', { anyModel, inputMode: 'fields' }).map(({ name }) => name);
	for (const name of ['inputMode', 'anyFields'])
		expect([name, names.includes(name)]).toEqual([name, value !== '']);
});

describe('for a model of the list', () => {
	const anyModel = { __rl: true, mode: 'list', value: 'v/m' };
	const manual = { mappingMode: 'defineBelow', value: { a: 1 }, schema: [] };
	const automatic = { mappingMode: 'autoMapInputData', value: null, schema: [] };
	const inputModes = { showInputModes: true };
	const json = { inputMode: 'json', anyInput: '{}' };
	const panels: Array<[parameters: INodeParameters, shown: string[], choosesMapping: boolean[]]> = [
		[{ anyFields: manual }, ['anyFields'], [false]],
		[{ anyFields: manual, options: inputModes }, ['inputMode', 'anyFields'], [true]],
		[{ anyFields: automatic }, ['jsonGuide', 'anyFields'], [true]],
		[
			{ anyFields: automatic, options: inputModes },
			['inputMode', 'jsonGuide', 'anyFields'],
			[true],
		],
		[json, ['inputMode', 'jsonGuide', 'anyInput'], []],
		[{ ...json, options: inputModes }, ['inputMode', 'jsonGuide', 'anyInput'], []],
	];

	it.each(panels)('of %j, the panel shows %j', (parameters, shown, choosesMapping) => {
		const found = listShown('any', { inputMode: 'fields', anyModel, ...parameters });
		const names = found.map(({ name }) => name);
		expect(names).toEqual(['anyModel', 'prompt', ...shown]);
		const mappers = found.flatMap(({ typeOptions }) => typeOptions?.resourceMapper ?? []);
		expect(mappers.map(({ supportAutoMap }) => supportAutoMap)).toEqual(choosesMapping);
	});

	it.each(panels)('n8n keeps %j, shown or not', (parameters) => {
		const stored = { model: 'any', anyModel, ...parameters };
		for (const returnsDefaults of [true, false])
			expect(
				NodeHelpers.getNodeParameters(
					operationProperties,
					stored,
					returnsDefaults,
					false,
					null,
					null,
				),
			).toMatchObject({ anyModel, ...parameters });
	});
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
