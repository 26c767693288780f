import { optionFields } from '../../nodes/MediaGeneration/trigger/options';
import { readOptions, verifiesSignature } from '../../nodes/MediaGeneration/trigger/receive';

const defaults = {
	deduplicate: true,
	fetchDetails: true,
	otherCallbackBodies: false,
	toleranceSeconds: 300,
};

describe("the trigger's options", () => {
	it('are shown with the defaults that count where the user set nothing', () => {
		const shown = optionFields.map((field) => [field.name, field.default] as const);
		expect(Object.fromEntries(shown)).toEqual(defaults);
		expect(readOptions({})).toEqual(defaults);
		expect(optionFields.at(-1)?.typeOptions).toEqual({ minValue: 0 });
	});

	it.each([false, '', 0, null, undefined, 'false', NaN, [], {}])(
		'keep what protects on when an expression returns %p: only a literal false turns it off',
		(value) => {
			const isOn = value !== false;
			const options = readOptions({ deduplicate: value, fetchDetails: value });
			expect(options).toEqual({ ...defaults, deduplicate: isOn, fetchDetails: isOn });
			expect(verifiesSignature(value)).toBe(isOn);
		},
	);

	it.each([true, 'true', 1, {}])('take other bodies only by a literal true: %p', (value) => {
		const { otherCallbackBodies } = readOptions({ otherCallbackBodies: value });
		expect(otherCallbackBodies).toBe(value === true);
	});

	it.each([0, 60, 0.5])('take a tolerance of %p', (toleranceSeconds) => {
		expect(readOptions({ toleranceSeconds })).toEqual({ ...defaults, toleranceSeconds });
	});

	it.each([null, undefined, NaN, Infinity, -1, '', '0', 'any', []])(
		'do not let in callbacks of any age when the tolerance is %p',
		(toleranceSeconds) => expect(readOptions({ toleranceSeconds })).toEqual(defaults),
	);
});
