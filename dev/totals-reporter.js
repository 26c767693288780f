const fs = require('node:fs');
const path = require('node:path');

/**
 * A jest reporter that writes `{ passed, failed }` of each suite into the folder named by MEDIA_GENERATION_TOTALS, one file per suite.
 * A test file that fails to run counts as one failed test.
 */
class TotalsReporter {
	/** @type {Map<string, { passed: number, failed: number }>} */
	#suites = new Map();

	/**
	 * @param {import('@jest/reporters').Test} test
	 * @param {import('@jest/reporters').TestResult} result
	 */
	onTestResult(test, result) {
		const suite = test.context.config.displayName?.name ?? 'tests';
		const totals = this.#suites.get(suite) ?? { passed: 0, failed: 0 };
		totals.passed += result.numPassingTests;
		totals.failed += result.numFailingTests || (result.testExecError ? 1 : 0);
		this.#suites.set(suite, totals);
	}

	onRunComplete() {
		const folder = process.env.MEDIA_GENERATION_TOTALS;
		if (!folder) return;
		for (const [suite, totals] of this.#suites) {
			fs.writeFileSync(path.join(folder, `${suite}.json`), JSON.stringify(totals));
		}
	}
}

module.exports = TotalsReporter;
