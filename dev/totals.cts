const fs = require('node:fs');
const path = require('node:path');

/**
 * Adds up what TotalsReporter wrote of the named suites; one that ran no test counts as failed.
 * @param {string} folder
 * @param {string[]} suites
 */
function addUp(folder, suites) {
	const sum = { passed: 0, failed: 0 };
	for (const suite of suites) {
		const file = path.join(folder, `${suite}.json`);
		const { passed, failed } = fs.existsSync(file)
			? JSON.parse(fs.readFileSync(file, 'utf8'))
			: { passed: 0, failed: 0 };
		sum.passed += passed;
		sum.failed += failed || (passed === 0 ? 1 : 0);
	}
	return sum;
}

const [folder, ...suites] = process.argv.slice(2);
if (!folder) throw new Error('Usage: node dev/totals.js <folder> <suite> …');
const { passed, failed } = addUp(folder, suites);
console.log(`${passed} ${failed}`);
