/**
 * The environments of n8n that are measured. As it comes, n8n sets up an isolate for expressions before it calls a webhook,
 * for each credential that a webhook reads, and for each execution, whether or not there is an expression; with the
 * second one it sets them up when they are needed.
 * @type {Array<{ setting: string, env: Record<string, string> }>}
 */
const SETTINGS = [
	{ setting: 'n8n as it comes', env: {} },
	{ setting: 'lazy isolates', env: { N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' } },
];

module.exports = { SETTINGS };
