const { WAIT, chain, createAndWait } = require('../dev/fixtures/workflows.cts');
const { importFor, richService, withN8n } = require('./pair.cts');
const { SETTINGS } = require('./settings.cts');
const { median } = require('./statistics.cts');

/**
 * The time from the service's callback to the start of the next node, beside n8n's own Wait node resumed by the same
 * POST, in interleaved rounds of one n8n. Below 1 is faster than the Wait node. In that time our node reads its credential
 * and asks the service for the task, the Wait node does neither.
 */
const ROUNDS = 31;
const WARM_UP = 3;

const NEXT = { name: 'Next', type: 'n8n-nodes-base.noOp' };

/**
 * Milliseconds from the POST to the next node's start, by the rounds of one n8n.
 * @param {import('../dev/service/index.cts').Service} service
 * @param {import('../dev/n8n/n8n.cts').N8n} n8n
 */
async function measure(service, n8n) {
	const oneTask = createAndWait({ customInput: '{"prompt":"bench"}', options: {} });
	const ours = await importFor(n8n, service, chain('Ours', [oneTask, NEXT]));
	const wait = await importFor(n8n, service, chain('Wait', [WAIT, NEXT]));

	const resume = async (/** @type {string} */ id, /** @type {boolean} */ isOurs) => {
		const executionId = await n8n.run(id);
		await n8n.waitForExecution(executionId, { until: ['waiting'] });
		const taskId = String([...service.tasks.keys()].at(-1));
		await service.waitForTask(taskId);
		const { data } = await n8n.getExecution(executionId);
		const url = `${n8n.url}/webhook-waiting/${executionId}?signature=${data.resumeToken}`;
		const sent = Date.now();
		await service.callback(taskId, isOurs ? {} : { url });
		const execution = await n8n.waitForExecution(executionId);
		return execution.getRuns('Next')[0].startTime - sent;
	};

	/** @type {{ ours: number[], wait: number[] }} */
	const times = { ours: [], wait: [] };
	for (let round = -WARM_UP; round < ROUNDS; round++) {
		const own = await resume(ours, true);
		const other = await resume(wait, false);
		if (round >= 0) {
			times.ours.push(own);
			times.wait.push(other);
		}
	}
	return { ours: median(times.ours), wait: median(times.wait) };
}

async function bench() {
	const service = await richService({
		taskSeconds: 0.3,
		faultsFor: () => ({ noCallback: true }),
	});
	/** @type {import('./run.cts').Row[]} */
	const rows = [];
	try {
		for (const { setting, env } of SETTINGS) {
			const { ours, wait } = await withN8n((n8n) => measure(service, n8n), env);
			rows.push({
				name: `From the callback to the next node's start, of what n8n's Wait node takes; ${setting}`,
				value: ours / wait,
				goal: { atMost: 1.1 },
				figures: `${ours} ms, beside ${wait} ms; medians of ${ROUNDS} rounds`,
			});
		}
		return rows;
	} finally {
		await service.close();
	}
}

module.exports = { title: 'Create and Wait: going on when the service calls', bench };
