const { startN8n } = require('../../dev/n8n/n8n');
const { startService } = require('../../dev/service');

const CREDENTIAL_TYPE = 'mediaGenerationApi';
const TOKEN = 'dev-token';
const WEBHOOK_SECRET = 'dev-webhook-key';

/**
 * An n8n with the packed package; `env` is added to its environment.
 * @param {Record<string, string>} [env]
 */
async function startPackedN8n(env) {
	const tarball = process.env.MEDIA_GENERATION_TARBALL;
	if (!tarball) throw new Error('No packed package: run the tests by "npm run test:e2e"');
	return await startN8n({ tarball, env });
}

/**
 * The data of a credential for the emulator.
 * @param {{ url: string }} service
 * @param {object} [changes]
 */
function credentialData({ url }, changes = {}) {
	return {
		baseUrl: url,
		accessToken: TOKEN,
		webhookSecret: WEBHOOK_SECRET,
		previousWebhookSecret: '',
		uploadBaseUrl: '',
		customEndpoints: false,
		...changes,
	};
}

/**
 * Starts the emulator of the task service and an n8n that has a credential for it.
 * @param {{ service?: import('../../dev/service').SettingsInput, n8n?: Record<string, string> }} [options] settings of the emulator, environment of n8n
 */
async function startPair({ service: settings = {}, n8n: env } = {}) {
	const service = await startService({
		token: TOKEN,
		webhookSecret: WEBHOOK_SECRET,
		...settings,
	});
	try {
		const n8n = await startPackedN8n(env);
		const credential = await n8n.createCredential({
			name: 'Media Generation',
			type: CREDENTIAL_TYPE,
			data: credentialData(service, {
				...(settings.token === undefined ? {} : { accessToken: settings.token }),
				...(settings.webhookSecret === undefined ? {} : { webhookSecret: settings.webhookSecret }),
			}),
		});
		return {
			service,
			n8n,
			credential,
			/** What `importWorkflow` takes as its second argument. */
			credentials: { credentials: { [CREDENTIAL_TYPE]: credential } },
			stop: () => Promise.all([n8n.stop(), service.close()]),
		};
	} catch (error) {
		await service.close();
		throw error;
	}
}

module.exports = {
	startPair,
	startPackedN8n,
	credentialData,
	CREDENTIAL_TYPE,
	TOKEN,
	WEBHOOK_SECRET,
};
