const { items, mediaGeneration } = require('../dev/fixtures/workflows.cts');

/**
 * A node that gives out as many items, each with a prompt.
 * @param {number} count
 */
const prompts = (count) =>
	items(Array.from({ length: count }, (_, index) => ({ prompt: `prompt ${index}` })));

/**
 * Our node that creates a task for each prompt, as fast as it can, and waits for all.
 * @param {Record<string, unknown>} [more] parameters
 */
const createAndWait = (more = {}) =>
	mediaGeneration({
		resource: 'task',
		operation: 'createAndWait',
		model: 'custom',
		customModel: 'custom/any',
		customInput: '={{ { prompt: $json.prompt } }}',
		options: { tasksPer10Seconds: 0, concurrency: 20 },
		...more,
	});

/** n8n's own node that parks an execution until its resume URL is called. */
const WAIT = {
	name: 'Wait',
	type: 'n8n-nodes-base.wait',
	typeVersion: 1.1,
	webhookId: 'c0ffee00-0000-4000-8000-00000000bbbb',
	parameters: { resume: 'webhook', httpMethod: 'POST', options: {} },
};

module.exports = { createAndWait, prompts, WAIT };
