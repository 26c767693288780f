import fc from 'fast-check';
import { tryToParseDateTime, UserError } from 'n8n-workflow';
import { toJsonInput } from '../../../nodes/MediaGeneration/models/jsonInput';
import { Media } from '../../../nodes/MediaGeneration/models/media';

const WHEN = '2026-11-02T10:00:00.000Z';
const cycle: { self?: object } = {};
cycle.self = [cycle];
class DateTime {
	toJSON() {
		return null;
	}
}

it.each<[what: string, value: unknown, sent: unknown]>([
	['a Date', new Date(WHEN), WHEN],
	['a DateTime', tryToParseDateTime(WHEN, 'utc'), WHEN],
	['a URL', new URL('https://a.example/b'), 'https://a.example/b'],
	['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
	['what is undefined', { a: undefined, b: null }, { b: null }],
	['the largest whole number', [2 ** 53 - 1, 1 - 2 ** 53], [2 ** 53 - 1, 1 - 2 ** 53]],
	['many decimals', 0.1 + 0.2, 0.30000000000000004],
	// n8n teaches it JSON.
	['a BigInt', 9007199254740993n, '9007199254740993'],
	['a large number as text', '9007199254740993', '9007199254740993'],
])('%s is sent as JSON has it', (_, value, sent) => {
	expect(toJsonInput({ x: value })).toEqual({ x: sent });
	expect(toJsonInput({ deep: [{ x: value }] })).toEqual({ deep: [{ x: sent }] });
});

it('a file is left as it is, to be uploaded', () => {
	const file = new Media('data');
	expect(toJsonInput({ image: [file] }).image).toEqual([file]);
});

const INEXACT = 'must be between -9007199254740991 and 9007199254740991, so that no digit is lost';
it.each<[value: unknown, message: string]>([
	[JSON.parse('9007199254740993'), `'Seed' ${INEXACT}, but is "9007199254740992"`],
	[JSON.parse('-1e400'), `'Seed' ${INEXACT}, but is "-Infinity"`],
	[NaN, `'Seed' ${INEXACT}, but is "NaN"`],
	[[1, { a: 1e300 }], `'Seed 2 › A' ${INEXACT}, but is "1e+300"`],
	[() => 5, `'Seed' must be a value that JSON has, but is of the type Function`],
	[Symbol('a'), `'Seed' must be a value that JSON has, but is of the type Symbol`],
	[[undefined], `'Seed 1' must be a value that JSON has, but is of the type Undefined`],
	[new Map([[1, 2]]), `'Seed' must be a value that JSON has, but is of the type Map`],
	[new Set([1]), `'Seed' must be a value that JSON has, but is of the type Set`],
	[new (class Frame {})(), `'Seed' must be a value that JSON has, but is of the type Object`],
	[new Error('x'), `'Seed' must be a value that JSON has, but is of the type Error`],
	[new Date('x'), `'Seed' must be a valid date`],
	[new DateTime(), `'Seed' must be a valid date`],
	[cycle, `'Seed › Self 1 › Self 1 › Self 1 › Self' must be nested less than 64 levels deep`],
])('%p is refused, because JSON would have another value', (value, message) => {
	expect(() => toJsonInput({ seed: value })).toThrow(UserError);
	expect(() => toJsonInput({ seed: value })).toThrow(message);
});

it('whatever expressions give is sent without a change, or refused', () => {
	const anything = fc.anything({
		// JSON has no -0.
		values: [fc.boolean(), fc.string(), fc.maxSafeInteger(), fc.double().map((value) => value + 0)],
		withBigInt: true,
		withDate: true,
		withMap: true,
		withSet: true,
		withTypedArray: true,
		withSparseArray: true,
		withNullPrototype: true,
		maxDepth: 4,
	});
	let sent = 0;
	fc.assert(
		fc.property(fc.record({ value: anything }), (input) => {
			let json: unknown;
			try {
				json = toJsonInput(input);
			} catch (error) {
				expect(error).toBeInstanceOf(UserError);
				return;
			}
			sent++;
			const text = JSON.stringify(json);
			expect(text).toBe(JSON.stringify(input));
			expect(JSON.parse(text)).toEqual(json);
		}),
		{ numRuns: 2_000 },
	);
	expect(sent).toBeGreaterThan(300);
});
