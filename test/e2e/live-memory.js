const { inspect } = require('../../dev/n8n/inspect.cts');

/**
 * What n8n holds on to: its heap after garbage was collected, in MB. How much memory the process has at a time says more of
 * when Node collects than of what is kept.
 * @param {import('../../dev/n8n/n8n.cts').N8n} n8n one that was started with INSPECTABLE
 * @returns {Promise<number>}
 */
const liveMemory = async (n8n) =>
	await inspect(n8n, async (call) => {
		// Some garbage only goes when what held it has gone.
		for (let round = 0; round < 3; round++) await call('HeapProfiler.collectGarbage');
		const { result } = await call('Runtime.evaluate', {
			expression: 'process.memoryUsage().heapUsed',
		});
		return result.value / 1024 / 1024;
	});

module.exports = { liveMemory };
