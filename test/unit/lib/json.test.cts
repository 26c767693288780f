import { findJsonFault, leaveOutData } from '../../../nodes/MediaGeneration/lib/json';
import { expectLinear, fill } from '../linear.cts';

it.each<[string, RegExp | undefined]>([
	[
		'{"a": "He said "hi" there"}',
		/^Expected ',' or '}' after property value in JSON at position 16/,
	],
	['{\n"a": , "b": 1}', /^Unexpected token ',', "{ "a": , "b": 1}" is not valid JSON$/],
	[' \t\r\n{"a": [-1.5e+3, true, null, "\\u00e9\\n"]}', undefined],
])('%j is no JSON: %s', (text, fault) => {
	expect(findJsonFault(text) ?? '').toMatch(fault ?? /^$/);
});

const DATA = 'iVBOR/+w0K='.repeat(1_000);

/** JSON text in JSON text, so many levels deep. */
const nest = (value: unknown, levels: number): string =>
	JSON.stringify(levels > 1 ? nest(value, levels - 1) : value);

it.each<[string, unknown, unknown]>([
	['a data URL', `data:image/png;base64,${DATA}`, 'data:image/png;base64,…'],
	['Base64 in lines', { a: DATA.replace(/.{76}/g, '$&\r\n'), b: '\n"' }, { a: '…', b: '\n"' }],
	['Base64 before backslashes', [`${DATA}\\`, `"${DATA}"`], ['…\\', '"…"']],
	['percent-encoded data', `data:,${'%3Csvg%20'.repeat(2_000)}`, 'data:,…'],
	['what is no file', ['a b'.repeat(5_000), DATA.slice(0, 9_000)], undefined],
])('of JSON, also within JSON, the files are left out: %s', (_, value, expected = value) => {
	for (const levels of [1, 2, 3])
		expect(leaveOutData(nest({ value }, levels))).toBe(nest({ value: expected }, levels));
	// Some services escape slashes.
	const escaped = JSON.stringify(value).replaceAll('/', '\\/');
	expect(JSON.parse(leaveOutData(escaped))).toEqual(expected);
});

it.each<[string, string]>([
	['backslashes', `"${fill('\\', 1.6e7)}"`],
	['almost files', fill(`${DATA.slice(0, 9_999)},`, 1.6e7)],
])('files are left out in linear time of %s', (_, text) => {
	expectLinear(() => leaveOutData(text));
});
