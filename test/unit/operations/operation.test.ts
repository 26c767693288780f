import type { INodeProperties } from 'n8n-workflow';
import { MediaGeneration } from '../../../nodes/MediaGeneration/MediaGeneration.node';
import {
	checkOptions,
	readNumberOption,
	readOption,
} from '../../../nodes/MediaGeneration/models/field';
import {
	optionsField,
	runEach,
	type Item,
} from '../../../nodes/MediaGeneration/operations/operation';
import { buildCreator, buildItem } from './creations';

const size: INodeProperties = {
	displayName: 'Size',
	name: 'size',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 5, numberPrecision: 0 },
	default: 2,
};
const half: INodeProperties = { ...size, typeOptions: { minValue: 0.5, maxValue: 5 } };
const flag: INodeProperties = { ...size, displayName: 'Flag', type: 'boolean', default: false };

const withValue =
	(value: unknown): Item['option'] =>
	(name) =>
		name === 'size' ? value : undefined;

describe('an option', () => {
	it('that the user did not add has its default as a number, and else none', () => {
		expect(readNumberOption(withValue(undefined), size)).toBe(2);
		expect(readOption(withValue(undefined), size)).toBeUndefined();
	});

	it.each<[INodeProperties, unknown, unknown]>([
		[size, ' 3 ', 3],
		[half, 0.5, 0.5],
		[flag, 'false', false],
	])('is read by its type: %#', (property, value, read) => {
		expect(readOption(withValue(value), property)).toBe(read);
	});

	it.each<[INodeProperties, unknown, string]>([
		[size, 0, '\'Size\' in Options must be a whole number from 1 to 5, but is "0"'],
		[size, 6, 'a whole number from 1 to 5, but is "6"'],
		[size, '3 tasks', 'but is "3 tasks"'],
		[size, ' ', 'but is blank'],
		[size, null, 'but is blank'],
		[half, 0.4, "'Size' in Options must be a number from 0.5 to 5, but is"],
		[flag, '', "'Flag' in Options must be true or false, but is blank"],
		[flag, 'yes', 'must be true or false, but is "yes"'],
	])('that is set and not of its kind is an error: %#', (property, value, message) => {
		const error: unknown = expect.objectContaining({
			message: expect.stringContaining(message) as string,
			description: expect.stringContaining('Correct the option or remove it') as string,
		});
		expect(() => readNumberOption(withValue(value), property)).toThrow(error as Error);
	});

	it.each<[string, INodeProperties, boolean]>([
		['a number', size, true],
		['a switch', flag, true],
		['a text', { ...size, type: 'string' }, false],
		['shown only with another field', { ...size, displayOptions: { show: { a: [1] } } }, false],
	])('that is %s is checked with the others or not', (_, property, isChecked) => {
		const fields = [size, optionsField([property])];
		const check = () => checkOptions(fields, withValue('many'));
		if (isChecked) expect(check).toThrow('but is "many"');
		else expect(check).not.toThrow();
	});
});

const listOptions = () =>
	new MediaGeneration().description.properties
		.filter(({ name }) => name === 'options')
		.flatMap(({ options = [] }) => options as INodeProperties[])
		.filter(({ type }) => type === 'number');

it('each number in Options of the node has a range, which holds its default', () => {
	expect(listOptions().length).toBeGreaterThan(8);
	for (const property of listOptions()) {
		const { minValue, maxValue } = property.typeOptions ?? {};
		expect({ minValue, maxValue }).toEqual({
			minValue: expect.any(Number) as number,
			maxValue: expect.any(Number) as number,
		});
		expect(readOption(() => property.default, property)).toBe(property.default);
	}
});

describe('an operation that does the same for each item', () => {
	/** Runs it on nine items, of which the second fails. */
	async function runNine(goesOn: boolean) {
		const context = buildCreator({}, { continueOnFail: () => goesOn });
		const prepared = Array.from({ length: 9 }, (_, index) => ({
			item: buildItem(context, index),
			request: index,
		}));
		const run = runEach<number>(async (_, index) => {
			await Promise.resolve();
			if (index === 1) throw new Error('Broken');
			return [{ json: { index } }];
		});
		return (await run(prepared, context)).outcomes;
	}

	it('goes on after an error, or begins no more', async () => {
		const error = new Error('Broken');
		const done = Array.from({ length: 9 }, (_, index) =>
			index === 1 ? { error } : { items: [{ json: { index } }] },
		);
		expect(await runNine(true)).toEqual(done);
		const stopped = await runNine(false);
		expect(stopped[1]).toEqual({ error });
		expect(stopped.slice(6)).toEqual([undefined, undefined, undefined]);
	});
});
