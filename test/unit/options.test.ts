import { optionsOf } from '../../nodes/MediaGeneration/trigger/options';

describe("the trigger's options", () => {
	it('are the defaults where the user set nothing', () => {
		expect(optionsOf({})).toEqual({
			deduplicate: true,
			fetchDetails: true,
			toleranceSeconds: 300,
		});
	});

	it.each([0, 60, 0.5])('take a tolerance of %p', (toleranceSeconds) => {
		expect(optionsOf({ toleranceSeconds })).toMatchObject({ toleranceSeconds });
	});

	it.each([null, undefined, NaN, Infinity, -1, '', 'any', []])(
		'do not let in callbacks of any age when the tolerance is %p',
		(toleranceSeconds) => {
			expect(optionsOf({ toleranceSeconds })).toMatchObject({ toleranceSeconds: 300 });
		},
	);
});
