/** The longest value that is looked for, in characters. */
const LONGEST_VALUE = 100;

/** What stands between a value and its meaning. */
const SEPARATOR = / [-–—] |[:：]/g;

/** Bullets, quotes and Markdown around a value. */
const AROUND = /^(?:[-*•]\s+)?[`"'*]*|[`"'*]*$/g;

/**
 * Reads what a description says of values, each on a line of its own, such as "- fun: more playful".
 * Values may be identifiers, of voices for example, which nobody can choose from without it.
 */
export function readMeanings(values: unknown[], description: string): Record<string, string> {
	const known = new Set(values.map(String));
	const meanings: Array<[value: string, meaning: string]> = [];
	for (const line of description.split('\n'))
		for (const { 0: separator, index } of line.matchAll(SEPARATOR)) {
			if (index > LONGEST_VALUE) break;
			const value = line.slice(0, index).trim().replace(AROUND, '');
			if (!known.has(value)) continue;
			meanings.push([value, line.slice(index + separator.length).replace(/^[*\s]+/, '')]);
			break;
		}
	return Object.fromEntries(meanings);
}
