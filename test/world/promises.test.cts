import { readFileSync } from 'node:fs';
import { readPromises } from '../../dev/fixtures/promises.cts';

const rows = readPromises();

it('each row has all cells', () => {
	expect(rows.length).toBeGreaterThan(30);
	expect(rows.filter(({ isWhole }) => !isWhole)).toEqual([]);
});

it.each(rows)(
	'$promise: its test and what its mutant replaces exist, each once',
	({ test, title, file, search }) => {
		const tests = readFileSync(test, 'utf8');
		const quoted = ["'", '"', '`'].map((quote) => quote + title + quote);
		expect(quoted.filter((text) => tests.includes(text))).toHaveLength(1);
		expect(readFileSync(file, 'utf8').split(search)).toHaveLength(2);
	},
);
