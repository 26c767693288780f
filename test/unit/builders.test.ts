import { NodeHelpers, type INodeProperties } from 'n8n-workflow';
import { models } from '../../nodes/MediaGeneration/models';
import { describeModels, listModelProperties } from '../../nodes/MediaGeneration/models/builders';
import { defineModel } from '../../nodes/MediaGeneration/models/model';

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

it.each(models.filter(({ id }) => id !== 'custom'))(
	'the panel shows the fields of $id for it, in its order and words',
	({ id, properties }) => {
		expect(withoutConditions(listShown(id))).toEqual(withoutConditions(properties));
	},
);

it.each([
	['fields', ['customModel', 'prompt', 'inputMode', 'customFields']],
	['json', ['customModel', 'inputMode', 'jsonGuide', 'customInput']],
])('the panel shows no field of a listed model for Any Model with %s', (inputMode, names) => {
	const customModel = { __rl: true, mode: 'id', value: 'epsilon-2/text-to-video' };
	const shown = listShown('custom', { customModel, inputMode });
	expect(shown.map(({ name }) => name)).toEqual(names);
});

it('the hint of model has each field of each model, with its type, choices and limits', () => {
	const lines = describeModels(models).split('\n');
	for (const { id, properties } of models) {
		const line = lines.find((one) => one.startsWith(`${id}: `)) ?? '';
		for (const { name, required } of properties.filter(({ type }) => type !== 'notice'))
			expect(line).toMatch(new RegExp(`[ {]${name} \\(${required ? 'required, ' : ''}`));
	}
	expect(describeModels(models)).toMatch(/mode \('720p' \| '1080p' \| another; default 720p\)/);
	expect(describeModels(models)).toMatch(/duration \(whole number from 1; default 5\)/);
	expect(describeModels(models)).toMatch(/jsonGuide \(a list for people to read: leave it out\)/);
});

it('the hint of a name says what each model means by it', () => {
	const text = (description: string): INodeProperties[] => [
		{ displayName: 'Text', name: 'text', type: 'string', default: '', description },
	];
	const one = defineModel({ id: 'one', name: 'One', description: '', fields: text('The song.') });
	const two = defineModel({ id: 'two', name: 'Two', description: '', fields: text('The words') });
	const [first, second] = listModelProperties([one, two]);
	const meanings = 'one: The song\ntwo: The words';
	expect(first?.builderHint).toEqual({ propertyHint: meanings, message: meanings });
	expect(second?.builderHint).toBeUndefined();
	const [alike] = listModelProperties([one, { ...one, id: 'three' }]);
	expect(alike?.builderHint).toBeUndefined();
	const notice = { displayName: '', name: 'notice', type: 'notice', default: '' } as const;
	const twice = { ...one, properties: [...one.properties, notice, ...one.properties] };
	expect(describeModels([twice])).toMatch(/Parameters: text \(text\)$/);
});
