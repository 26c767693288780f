import { optionFields } from '../../nodes/MediaGeneration/trigger/options';
import { readOptions, verifiesSignature } from '../../nodes/MediaGeneration/trigger/receive';

describe("the trigger's options", () => {
	it('are the defaults where the user set nothing', () => {
		expect(readOptions({})).toEqual({
			deduplicate: true,
			fetchDetails: true,
			toleranceSeconds: 300,
		});
	});

	it('are shown with these defaults', () => {
		const shown = optionFields.map((field) => [field.name, field.default] as const);
		expect(Object.fromEntries(shown)).toEqual(readOptions({}));
		expect(optionFields.at(-1)?.typeOptions).toEqual({ minValue: 0 });
	});

	it.each(['', 0, null, undefined, 'false', NaN, [], {}])(
		'keep what protects on when an expression returns %p: only a literal false turns it off',
		(value) => {
			expect(readOptions({ deduplicate: value, fetchDetails: value })).toMatchObject({
				deduplicate: true,
				fetchDetails: true,
			});
			expect(verifiesSignature(value)).toBe(true);
		},
	);

	it('turn off what a literal false turns off', () => {
		expect(readOptions({ deduplicate: false, fetchDetails: false })).toMatchObject({
			deduplicate: false,
			fetchDetails: false,
		});
		expect(verifiesSignature(false)).toBe(false);
	});

	it.each([0, 60, 0.5])('take a tolerance of %p', (toleranceSeconds) => {
		expect(readOptions({ toleranceSeconds })).toMatchObject({ toleranceSeconds });
	});

	it.each([null, undefined, NaN, Infinity, -1, '', '0', 'any', []])(
		'do not let in callbacks of any age when the tolerance is %p',
		(toleranceSeconds) => {
			expect(readOptions({ toleranceSeconds })).toMatchObject({ toleranceSeconds: 300 });
		},
	);
});
