/**
 * A trigger that does nothing but start the workflow with the body that it gets: the least that n8n lets any trigger of a
 * community package cost.
 */
class NothingTrigger {
	description = {
		displayName: 'Nothing Trigger',
		name: 'nothingTrigger',
		group: ['trigger'],
		version: 2,
		description: 'Starts the workflow when it is called',
		defaults: { name: 'Nothing Trigger' },
		inputs: [],
		outputs: ['main'],
		credentials: [{ name: 'mediaGenerationApi' }],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				path: 'webhook',
				responseMode: 'onReceived',
				responseData: '',
			},
		],
		properties: [],
	};

	/** @this {import('n8n-workflow').IWebhookFunctions} */
	async webhook() {
		return {
			webhookResponse: { accepted: true },
			workflowData: [[{ json: this.getBodyData() }]],
		};
	}
}

module.exports = { NothingTrigger };
