const { chain, mediaGeneration, prompts } = require('../dev/fixtures/workflows.cts');
const { importFor, richService, withN8n } = require('./pair.cts');
const { median } = require('./statistics.cts');

/**
 * 1,000 items through Create, beside n8n's HTTP Request node that sends the same requests, in interleaved rounds of one
 * n8n, against an emulator without a rate limit. HTTP Request begins all requests at once, whatever its batching (that only
 * pauses between beginnings), so our concurrency is raised to 1,000; the usual one of 5 is shown. The time is the
 * node's own, as n8n notes it. The answers differ in kind: ours are checked, and paired with what was asked for.
 */
const TASKS = 1_000;
const ROUNDS = 7;
const WARM_UP = 2;

const create = (/** @type {number | undefined} */ concurrency) =>
	mediaGeneration({
		resource: 'task',
		operation: 'create',
		model: 'custom',
		customModel: 'custom/any',
		customInput: '={{ { prompt: $json.prompt } }}',
		options: { tasksPer10Seconds: 0, ...(concurrency && { concurrency }) },
	});

/** @param {string} url the service's */
const httpRequest = (url) => ({
	name: 'HTTP Request',
	type: 'n8n-nodes-base.httpRequest',
	typeVersion: 4.2,
	parameters: {
		method: 'POST',
		url: `${url}/api/v1/jobs/createTask`,
		authentication: 'genericCredentialType',
		genericAuthType: 'httpHeaderAuth',
		sendBody: true,
		specifyBody: 'json',
		jsonBody: '={{ { model: "custom/any", input: { prompt: $json.prompt } } }}',
		options: { timeout: 60_000 },
	},
	credentials: { httpHeaderAuth: {} },
});

async function bench() {
	return await withN8n(async (n8n) => {
		const service = await richService({ faultsFor: () => ({ neverEnds: true }) });
		try {
			const nodes = {
				ours: create(TASKS),
				usual: create(undefined),
				theirs: httpRequest(service.url),
			};
			const ways = [];
			for (const [name, node] of Object.entries(nodes))
				ways.push({
					name: node.name,
					id: await importFor(n8n, service, chain(name, [prompts(TASKS), node])),
					times: /** @type {number[]} */ [],
				});
			for (let round = -WARM_UP; round < ROUNDS; round++)
				for (const { name, id, times } of ways) {
					const execution = await n8n.waitForExecution(await n8n.run(id));
					if (execution.getOutput(name).length !== TASKS) throw new Error(`${name} lost items`);
					if (round >= 0) times.push(execution.getRuns(name)[0].executionTime);
				}
			const [ours = NaN, usual = NaN, theirs = NaN] = ways.map(({ times }) => median(times));
			return [
				{
					name: `Creating ${TASKS} tasks, of what n8n's HTTP Request node takes`,
					value: ours / theirs,
					goal: { atMost: 1 },
					figures: `medians of ${ROUNDS} rounds: ${ours} ms (${usual} ms with the usual concurrency of 5), and ${theirs} ms by HTTP Request`,
				},
			];
		} finally {
			await service.close();
		}
	});
}

module.exports = { title: 'Creating tasks', bench };
