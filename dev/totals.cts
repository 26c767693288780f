import fs from 'node:fs';
import path from 'node:path';
import type { FormattedTestResults } from '@jest/test-result';

/**
 * Prints "<passed> <failed>" over the named suites of a run, from the file that `jest --json --outputFile` wrote.
 * A suite that ran no test, and a test file that failed to run, each count as one failed test.
 */
const [file = '', ...suites] = process.argv.slice(2);
const testFiles = fs.existsSync(file)
	? (JSON.parse(fs.readFileSync(file, 'utf8')) as FormattedTestResults).testResults
	: [];
let passed = 0;
let failed = 0;
for (const suite of suites) {
	const folder = path.resolve(__dirname, '..', 'test', suite) + path.sep;
	const before = passed + failed;
	for (const { name, status, assertionResults } of testFiles) {
		if (!name.startsWith(folder)) continue;
		const count = (wanted: string) =>
			assertionResults.filter((one) => one.status === wanted).length;
		passed += count('passed');
		failed += count('failed') || Number(status === 'failed');
	}
	if (passed + failed === before) failed += 1;
}
console.log(passed, failed);
