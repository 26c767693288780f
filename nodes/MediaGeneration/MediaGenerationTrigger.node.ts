import {
	NodeConnectionTypes,
	type IHookFunctions,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { credentialTest } from './editor/methods';
import { checkCredential, triggerOptions } from './trigger/options';

export class MediaGenerationTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Media Generation Trigger',
		name: 'mediaGenerationTrigger',
		icon: {
			light: 'file:../../icons/media-generation.svg',
			dark: 'file:../../icons/media-generation.dark.svg',
		},
		group: ['trigger'],
		// Not 1: n8n evaluates an expression of its own at each webhook call of a version 1.
		version: 1.1,
		subtitle:
			'={{ $parameter["events"].map((event) => event.replace("task", "Task ")).join(", ") }}',
		description:
			'Create videos and images with AI models, or start the workflow when one is finished',
		defaults: { name: 'Media Generation Trigger' },
		eventTriggerDescription: 'Waiting for the service to call the Test URL',
		triggerPanel: {
			header: 'Start when a task ends',
			executionsHelp:
				'<b>To try it out:</b> press <b>Execute step</b> here, then run <b>Start Without Waiting</b> in another tab, for a quick picture.<br /><br /><b>In production, and for a video:</b> publish (activate) this workflow, and take the Production URL. Its item has no file: put <b>Get Files</b> behind it.',
		},
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'mediaGenerationApi', required: true, testedBy: 'testCredential' }],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				path: 'webhook',
				responseMode: 'onReceived',
				// Blank: n8n then answers with our webhookResponse, after it has stored the execution.
				responseData: '',
			},
		],
		properties: [
			{
				displayName:
					'Copy a URL from <b>Webhook URLs</b> above into <b>Callback URL</b> of <b>Start Without Waiting</b>. The Test URL listens for two minutes.',
				name: 'callbackUrlNotice',
				type: 'notice',
				default: '',
			},
			{
				displayName: 'Trigger On',
				name: 'events',
				type: 'multiOptions',
				required: true,
				options: [
					{ name: 'Task Completed', value: 'taskCompleted' },
					{ name: 'Task Failed', value: 'taskFailed' },
				],
				default: ['taskCompleted'],
			},
			{
				displayName: 'Verify Signature',
				name: 'verifySignature',
				type: 'boolean',
				default: true,
				description:
					"Whether to accept only callbacks signed with the credential's 'Webhook HMAC Key'. If off, anyone who knows the URL can start the workflow.",
			},
			triggerOptions,
		],
	};

	methods = { credentialTest };
	webhookMethods = {
		default: {
			checkExists: async (): Promise<boolean> => false,
			async create(this: IHookFunctions): Promise<boolean> {
				await checkCredential(this);
				return true;
			},
			// n8n deactivates and activates when an edited workflow is published, so nothing is forgotten.
			delete: async (): Promise<boolean> => true,
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		// Imported with the first callback: n8n loads this file at its start, for the editor.
		return await (await import('./trigger/receive')).receiveCallback(this);
	}
}
