const { default: Sequencer } = require('@jest/test-sequencer');

/** The test files that take longest, the longest first: those in a real n8n take a minute or more. */
const LONG = [
	...['queue/queue', 'e2e/editor', 'e2e/sleep', 'e2e/trigger', 'e2e/restart'],
	...['e2e/anyModel', 'e2e/editorPanel', 'e2e/reachability', 'e2e/lostCallbacks', 'e2e/agents'],
	...['e2e/agentTools', 'e2e/failedTasks', 'e2e/isolates', 'e2e/loops', 'e2e/concurrencyLimit'],
	...['e2e/results', 'e2e/whoWaits', 'e2e/paidOnce', 'e2e/examples', 'e2e/creationRate'],
	...['unit/docs/contributing', 'unit/operations/toldModels', 'service/probeCli'],
	...['unit/operations/failedTries', 'unit/dev/brand', 'unit/api/exchange'],
	...['unit/operations/wait/asleep/sleeper', 'unit/api/answers'],
];

/** Starts long test files first, so that none is left alone at the end. In a fresh clone Jest knows no times and goes by size. */
module.exports = class LongFirst extends Sequencer {
	/** @param {import('@jest/test-result').Test[]} tests */
	sort(tests) {
		/** @param {import('@jest/test-result').Test} test */
		const rank = ({ path }) => {
			const found = LONG.findIndex((name) => path.includes(`/test/${name}.test.`));
			return found < 0 ? LONG.length : found;
		};
		return super.sort(tests).sort((a, b) => rank(a) - rank(b));
	}
};

module.exports.LONG = LONG;
