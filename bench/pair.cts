const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { startN8n } = require('../dev/n8n/n8n.cts');
const { pack } = require('../dev/pack.cts');
const { startService } = require('../dev/service/index.cts');

/**
 * @typedef {import('../dev/service/index.cts').Service} Service
 * @typedef {import('../dev/n8n/n8n.cts').N8n} N8n
 * @typedef {import('../dev/n8n/workflow.cts').Workflow} Workflow
 */

/**
 * Starts an emulator that has credits for any number of tasks.
 * @param {import('../dev/service/index.cts').SettingsInput} [settings]
 */
const richService = async (settings) => await startService({ credits: 1e9, ...settings });

/**
 * Saves a workflow whose nodes speak to this emulator: ours, and HTTP Request.
 * @param {N8n} n8n
 * @param {Service} service
 * @param {Workflow} workflow
 * @returns {Promise<string>} its id
 */
async function importFor(n8n, service, workflow) {
	const mediaGenerationApi = await n8n.createCredential({
		name: 'Bench',
		type: 'mediaGenerationApi',
		data: { baseUrl: service.url, accessToken: 'dev-token', webhookSecret: 'dev-webhook-key' },
	});
	const httpHeaderAuth = await n8n.createCredential({
		name: 'Bench',
		type: 'httpHeaderAuth',
		data: { name: 'Authorization', value: 'Bearer dev-token' },
	});
	const credentials = { mediaGenerationApi, httpHeaderAuth };
	return (await n8n.importWorkflow(workflow, { credentials })).id;
}

/**
 * An n8n with the packed package, and a folder, while `work` runs.
 * @template T
 * @param {(n8n: N8n) => Promise<T>} work
 * @param {Record<string, string>} [env] added to n8n's environment
 */
async function withN8n(work, env) {
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-bench-'));
	try {
		const n8n = await startN8n({ tarball: (await pack(folder)).tarball, env });
		try {
			return await work(n8n);
		} finally {
			await n8n.stop();
		}
	} finally {
		fs.rmSync(folder, { recursive: true, force: true });
	}
}

module.exports = { importFor, richService, withN8n };
