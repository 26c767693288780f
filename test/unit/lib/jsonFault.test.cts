import fc from 'fast-check';
import { findJsonFault, describeJsonFault } from '../../../nodes/MediaGeneration/lib/jsonFault';
import { parseJson } from '../../../nodes/MediaGeneration/lib/json';

it.each<[string, string | undefined]>([
	['{"a": "He said "hi" there"}', 'hi" there"}'],
	['{"a": "one\ntwo"}', '\ntwo"}'],
	['{"a": "one\ttwo"}', '\ttwo"}'],
	['{"a": "C:\\d"}', '\\d"}'],
	['{"a": "\\u12"}', '\\u12"}'],
	['{"a": 1,}', '}'],
	['{"a": [1,]}', ']}'],
	['{"a": 1 "b": 2}', '"b": 2}'],
	['{"a" 1}', '1}'],
	['{a: 1}', 'a: 1}'],
	["{'a': 1}", "'a': 1}"],
	['{"a": undefined}', 'undefined}'],
	['{"a": [object Object]}', 'object Object]}'],
	['{"a": }', '}'],
	['{"a": 01}', '1}'],
	['{"a": 1.}', '.}'],
	['{"a": -}', '-}'],
	['{"a": nul}', 'nul}'],
	['{"a": [1}', '}'],
	['{"a": 1}}', '}'],
	['{"a": 1', ''],
	['{"a": "b', ''],
	['', ''],
	['{"a": "b",', ''],
	['{"a": {}, "b": [], "c": [{}, [], -1.5e+3, true, false, null, "\\u00e9\\n"]}', undefined],
	[' \t\r\n1 ', undefined],
])('%j stops being JSON at %j', (text, rest) => {
	const fault = findJsonFault(text);
	expect(fault === undefined ? undefined : text.slice(fault)).toBe(rest);
});

it('a text has a fault if and only if JSON.parse refuses it, and what stands before the fault can be continued', () => {
	const noise = fc.constantFrom(
		'"',
		'{',
		'}',
		'[',
		']',
		',',
		':',
		'\\',
		'\n',
		' ',
		'1',
		'-',
		'e',
		'a',
	);
	const spoiled = fc
		.tuple(fc.json(), fc.array(fc.tuple(fc.nat(200), noise, fc.boolean()), { maxLength: 3 }))
		.map(([json, spoils]) =>
			spoils.reduce((text, [at, character, replaces]) => {
				const index = at % (text.length + 1);
				return text.slice(0, index) + character + text.slice(index + (replaces ? 1 : 0));
			}, json),
		);
	let broken = 0;
	const holds = fc.property(
		fc.oneof(
			spoiled,
			fc.array(noise).map((all) => all.join('')),
		),
		(text) => {
			const fault = findJsonFault(text);
			expect(fault === undefined).toBe(parseJson(text) !== undefined);
			if (fault === undefined) return;
			broken++;
			expect([undefined, fault]).toContain(findJsonFault(text.slice(0, fault)));
		},
	);
	fc.assert(holds, { numRuns: 3_000 });
	expect(broken).toBeGreaterThan(500);
});

it.each<[text: string, shown: string]>([
	['{"a": "He said "hi" there"}', 'line 1, column 17: {"a": "He said "▸hi" there"}'],
	['{\n\t"a": "one\ntwo"\n}', 'line 2, column 11: {↵"a": "one▸↵two"↵}'],
	['{"a": 1', 'line 1, column 8: {"a": 1▸'],
	[
		`{"a": "${'x'.repeat(50)}"y"${'z'.repeat(50)}"}`,
		`line 1, column 59: …${'x'.repeat(39)}"▸y"${'z'.repeat(38)}…`,
	],
	[
		'{"a": "https://a.example/b?sig=secret", b: "https://a.example/c?key=hidden"}',
		'line 1, column 41: {"a": "https://a.example/b?…", ▸b: "https://a.example/c?…"}',
	],
])('the fault in %j is shown as %j', (text, shown) => {
	expect(describeJsonFault(text, findJsonFault(text) ?? -1)).toBe(shown);
});
