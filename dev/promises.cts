import { readFileSync, writeFileSync } from 'node:fs';
import execa from 'execa';
import { readPromises } from './fixtures/promises.cts';

type Row = ReturnType<typeof readPromises>[number];

/** Restores the mutated file. */
let restore = () => {};

/**
 * `npm run promises`: makes the mutant of each promise, one at a time, and runs the test that must fail
 * then. A pattern, such as `test/(unit|world)`, chooses the rows that it matches in any cell.
 */
async function main() {
	const chosen = new RegExp(process.argv[2] ?? '');
	const isChosen = (row: Row) => chosen.test(Object.values(row).join(' '));
	const diff = ['diff', '--quiet', '--', 'nodes', 'credentials'];
	const { failed } = await execa('git', diff, { reject: false });
	if (failed) throw new Error('Commit your changes of nodes and credentials first');
	// Ctrl+C ends the test, and then this script, which `finally` below may not see.
	process.on('SIGINT', () => {});
	process.on('exit', () => restore());
	for (const row of readPromises().filter(isChosen)) {
		const survives = await passesMutated(row);
		if (survives) process.exitCode = 1;
		console.log(`${survives ? 'SURVIVES' : 'dies    '} ${row.promise}`);
	}
}

/** Makes a mutant, runs its test, and restores the file. @returns whether the test passes */
async function passesMutated({ test, title, file, search, replacement }: Row) {
	const build = async () => {
		if (!/^test\/(unit|world)\//.test(test)) await execa('npm', ['run', '--silent', 'build']);
	};
	const source = readFileSync(file, 'utf8');
	restore = () => writeFileSync(file, source);
	writeFileSync(
		file,
		source.replace(search, () => replacement),
	);
	try {
		await build();
		return await passes(test, title);
	} finally {
		restore();
		await build();
	}
}

/** Runs the tests of a title in a file. @throws {Error} if there is none */
async function passes(test: string, title: string) {
	const pattern = title
		.replace(/[.*+?^()|[\]{}]/g, '\\$&')
		// The placeholders that rows of a test fill in.
		.replace(/%\w|\$\w+/g, '.*');
	const args = ['--runInBand', '--testPathPatterns', test, '--testNamePattern', pattern];
	const { failed, stderr } = await execa('jest', args, { preferLocal: true, reject: false });
	if (!/^Tests: .*\d (passed|failed)/m.test(stderr))
		throw new Error(`No test ran of "${title}":\n${stderr}`);
	return !failed;
}

void main();
