import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROW = /^\| (?<promise>[^|]+) \| `(?<file>test\/[^`]+)` \| (?<title>[^|]+) \| [^|]+ \|$/;

/** Reads the rows of the tables beside this test, without their heads. */
const rows = readFileSync(path.join(__dirname, 'promises.md'), 'utf8')
	.split('\n')
	.filter((line) => line.startsWith('| ') && !/^\| (Promise|---) /.test(line))
	.map((line) => ROW.exec(line)?.groups ?? { promise: line });

it('each row names a test', () => {
	expect(rows.length).toBeGreaterThan(30);
	expect(rows.filter(({ file }) => file === undefined)).toEqual([]);
});

it.each(rows)('$promise: its test exists', ({ file = '', title = '' }) => {
	const source = readFileSync(path.resolve(file), 'utf8');
	const quoted = ["'", '"', '`'].map((quote) => quote + title + quote);
	expect(quoted.filter((text) => source.includes(text))).toHaveLength(1);
});
