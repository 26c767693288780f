import type { INodeProperties } from 'n8n-workflow';
import { MediaGeneration } from '../../../nodes/MediaGeneration/MediaGeneration.node';
import { readNumberOption, readOption } from '../../../nodes/MediaGeneration/models/field';
import { runEach } from '../../../nodes/MediaGeneration/operations/operation';
import type { Item } from '../../../nodes/MediaGeneration/run/input/item';
import { buildCall, buildItem } from '../n8n';

const size: INodeProperties = {
	displayName: 'Size',
	name: 'size',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 5, numberPrecision: 0 },
	default: 2,
};
const half: INodeProperties = { ...size, typeOptions: { minValue: 0.5, maxValue: 5 } };
const flag: INodeProperties = { ...size, displayName: 'Flag', type: 'boolean', default: false };

const withSize =
	(value: unknown): Item['option'] =>
	(name) =>
		name === 'size' ? value : undefined;

describe('an option', () => {
	it('that the user did not add has its default as a number, and else none', () => {
		expect(readNumberOption(withSize(undefined), size)).toBe(2);
		expect(readOption(withSize(undefined), size)).toBeUndefined();
	});

	it.each<[INodeProperties, unknown, string]>([
		[size, 6, '\'Size\' in Options must be a whole number of 1 to 5, but is "6"'],
		[size, null, 'but is blank'],
		[half, 0.4, "'Size' in Options must be a number of 0.5 to 5, but is"],
		[flag, '', "'Flag' in Options must be true or false, but is blank"],
	])('that is set and not of its kind is an error: %#', (property, value, message) => {
		const error: unknown = expect.objectContaining({
			message: expect.stringContaining(message) as string,
			description: expect.stringContaining('Correct the option or remove it') as string,
		});
		expect(() => readOption(withSize(value), property)).toThrow(error as Error);
	});
});

it('each number in Options of the node has a range, which holds its default', () => {
	const numbers = new MediaGeneration().description.properties
		.filter(({ name }) => name === 'options')
		.flatMap(({ options = [] }) => options as INodeProperties[])
		.filter(({ type }) => type === 'number');
	expect(numbers.length).toBeGreaterThan(8);
	// Limits in minutes have a shape instead, which refuses what n8n would change silently to `minValue`.
	const byShape = numbers.filter(({ typeOptions }) => !typeOptions).map(({ name }) => name);
	expect([...new Set(byShape)]).toEqual(['agentWait', 'waitLimit']);
	const range: unknown = { minValue: expect.any(Number), maxValue: expect.any(Number) };
	for (const property of numbers) {
		if (property.typeOptions) expect(property.typeOptions).toMatchObject(range as object);
		expect(readOption(() => property.default, property)).toBe(property.default);
	}
});

it.each([true, false])(
	'an operation that does the same for each item goes on after an error, or begins no more: %s',
	async (goesOn) => {
		const call = buildCall({ goesOn });
		const error = new Error('Broken');
		const run = runEach<number>(async (_, index) => {
			await Promise.resolve();
			if (index === 1) throw error;
			return [{ json: { index } }];
		});
		const indices = [0, 1, 2, 3, 4, 5, 6, 7, 8];
		const prepared = indices.map((request) => ({
			item: buildItem(call.context, request),
			request,
		}));
		const outcomes = await run(prepared, call);
		const all = indices.map((index) =>
			index === 1 ? { error } : { items: [{ json: { index } }] },
		);
		const begun = goesOn ? 9 : 5;
		expect(outcomes).toEqual([...all.slice(0, begun), ...Array<undefined>(9 - begun)]);
	},
);
