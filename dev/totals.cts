import fs from 'node:fs';
import type { FormattedTestResults } from '@jest/test-result';

/**
 * Prints "<passed> <failed>" by the report that `jest --json --outputFile` wrote. A named suite in which no test passed counts as
 * one failed test, and so does a test file that failed to run.
 */
const [file = '', ...suites] = process.argv.slice(2);
const report = fs.existsSync(file)
	? (JSON.parse(fs.readFileSync(file, 'utf8')) as FormattedTestResults)
	: undefined;
const { numPassedTests = 0, numFailedTests = 0, numRuntimeErrorTestSuites = 0 } = report ?? {};
const missing = suites.filter(
	(suite) =>
		!report?.testResults.some(
			({ name, assertionResults }) =>
				name.includes(`/test/${suite}`) &&
				assertionResults.some(({ status }) => status === 'passed'),
		),
);
console.log(numPassedTests, numFailedTests + numRuntimeErrorTestSuites + missing.length);
