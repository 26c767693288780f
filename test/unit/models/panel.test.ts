import { NodeHelpers, type INodeParameters, type INodeProperties } from 'n8n-workflow';
import { operationProperties } from '../../../nodes/MediaGeneration/editor/properties';
import { modelFields, models } from '../../../nodes/MediaGeneration/models';
import { toNodeProperty } from '../../../nodes/MediaGeneration/models/field';

const [createWith, ...properties] = modelFields;

const withoutConditions = (properties: INodeProperties[]) =>
	properties.map((property) => ({ ...property, displayOptions: undefined }));

/** The properties that n8n's editor shows when a model is chosen. */
const listShown = (model: string, parameters: object = {}) =>
	properties.filter(
		(property) =>
			property.type !== 'hidden' &&
			NodeHelpers.displayParameter({ model, ...parameters }, property, null, null),
	);

/** Returns what n8n stores of parameters. */
const store = (parameters: INodeParameters, returnsDefaults = true) =>
	NodeHelpers.getNodeParameters(
		operationProperties,
		parameters,
		returnsDefaults,
		false,
		null,
		null,
	) as INodeParameters;

it.each(models.filter(({ id }) => id !== 'any'))(
	'the panel shows the fields of $id for it, in its order and words',
	({ id, fields }) => {
		expect(withoutConditions(listShown(id))).toEqual(withoutConditions(fields.map(toNodeProperty)));
	},
);

it.each(['', 'vendor/model'])('the input of the model "%s" is shown once it is chosen', (value) => {
	const anyModel = { mode: 'id', value };
	const names = listShown('any', { anyModel, inputMode: 'fields' }).map(({ name }) => name);
	expect(names).toEqual([
		...(value ? ['anyModel', 'prompt', 'anyFields', 'guide'] : ['anyModel', 'inputMode', 'prompt']),
	]);
});

it.each<[mode: string, INodeParameters]>([
	['list', {}],
	['list', { options: { showInputModes: true } }],
	['id', { inputMode: 'json', anyInput: '{}' }],
])('n8n keeps what is written before a model of the %s is chosen, with %j', (mode, parameters) => {
	const anyModel = { __rl: true, mode, value: '' };
	const written = { inputMode: 'fields', prompt: 'A fox', ...parameters };
	expect(store({ model: 'any', anyModel, ...written })).toMatchObject(written);
});

describe('the input mode is shown with JSON and, like that of the mapping, where Options asks for it', () => {
	const anyModel = { __rl: true, mode: 'list', value: 'v/m' };
	const manual = { mappingMode: 'defineBelow', value: { a: 1 }, schema: [] };
	const automatic = { mappingMode: 'autoMapInputData', value: null, schema: [] };
	const inputModes = { showInputModes: true };
	const json = { inputMode: 'json', anyInput: '{}' };
	const panels: Array<[parameters: INodeParameters, shown: string[], choosesMapping: boolean[]]> = [
		[{ anyFields: manual }, ['prompt', 'anyFields'], [false]],
		[{ anyFields: manual, options: inputModes }, ['inputMode', 'prompt', 'anyFields'], [true]],
		[{ anyFields: automatic }, ['prompt', 'anyFields'], [false]],
		[{ anyFields: automatic, options: inputModes }, ['inputMode', 'prompt', 'anyFields'], [true]],
		[json, ['inputMode', 'prompt', 'anyInput'], []],
		[{ ...json, options: inputModes }, ['inputMode', 'prompt', 'anyInput'], []],
	];

	it.each(panels)('of %j, the panel shows %j', (parameters, shown, choosesMapping) => {
		const found = listShown('any', { inputMode: 'fields', anyModel, ...parameters });
		const names = found.map(({ name }) => name);
		expect(names).toEqual(['anyModel', ...shown, 'guide']);
		const [{ required } = {}] = found;
		expect(required).toBe(shown.includes('anyFields'));
		const mappers = found.flatMap(({ typeOptions }) => typeOptions?.resourceMapper ?? []);
		expect(mappers.map(({ supportAutoMap }) => supportAutoMap)).toEqual(choosesMapping);
	});

	it.each(panels)('n8n keeps %j, shown or not', (parameters) => {
		for (const returnsDefaults of [true, false])
			expect(store({ model: 'any', anyModel, ...parameters }, returnsDefaults)).toMatchObject({
				anyModel,
				...parameters,
			});
	});
});

it('the prompt is hidden for a model without one, and shown with JSON', () => {
	const isPromptShown = (parameters: object) =>
		listShown('any', parameters).some(({ name }) => name === 'prompt');
	const anyFields = { mappingMode: 'defineBelow', value: { $noPrompt: true }, schema: [] };
	const parameters = { model: 'any', anyModel: { __rl: true, mode: 'id', value: 'm' }, anyFields };
	expect(isPromptShown(store({ ...parameters, inputMode: 'fields' }))).toBe(false);
	expect(isPromptShown(store({ ...parameters, inputMode: 'json' }))).toBe(true);
});

it('the hint of model has the parameters of each model, with the choices of those that have some', () => {
	const hint = createWith?.builderHint?.propertyHint ?? '';
	const lines = hint.split('\n');
	for (const { id, fields } of models) {
		const line = lines.find((one) => one.startsWith(`${id}: `)) ?? '';
		for (const { name, required } of fields)
			expect(line).toMatch(new RegExp(`[ ]${name}${required ? ' \\(required' : ''}`));
	}
	expect(hint).toContain("mode ('720p' | '1080p')");
	expect(hint).not.toMatch(/ prompt, prompt/);
});
