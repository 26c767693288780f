import {
	NodeConnectionTypes,
	NodeOperationError,
	type IHookFunctions,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { TaskService } from './service/client';
import { optionFields } from './trigger/options';
import { receiveCallback, rememberedEvents } from './trigger/receive';

export class MediaGenerationTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Media Generation Trigger',
		name: 'mediaGenerationTrigger',
		icon: {
			light: 'file:../../icons/media-generation.svg',
			dark: 'file:../../icons/media-generation.dark.svg',
		},
		group: ['trigger'],
		version: 1,
		subtitle: '={{ $parameter["events"].join(", ") }}',
		description:
			"Starts the workflow when a media generation task ends, by the service's signed callback",
		defaults: { name: 'Media Generation Trigger' },
		eventTriggerDescription: 'Waiting for the service to call the Test URL',
		activationMessage:
			'Tasks that are created with the Production URL as their Callback URL now start this workflow when they end.',
		triggerPanel: {
			header: 'Start when a task ends',
			executionsHelp: {
				inactive:
					'<b>To try it out:</b> press "Listen for test event", copy the <b>Test URL</b> into Callback URL of a Media Generation node (operation Create), and run that node. When the task ends, its data shows up here.<br /><br /><b>When it works:</b> activate this workflow and put the <b>Production URL</b> there instead. It then runs for every task that ends; see the executions list.',
				active:
					'<b>To try a change:</b> press "Listen for test event", copy the <b>Test URL</b> into Callback URL of a Media Generation node, and run that node.<br /><br /><b>In production:</b> this workflow is active, and runs for every task that was created with the <b>Production URL</b> as its Callback URL; see the executions list.',
			},
			activationHint:
				'Once the workflow is active, tasks that were created with the Production URL as Callback URL start it.',
		},
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'mediaGenerationApi', required: true }],
		webhooks: [
			{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' },
		],
		properties: [
			{
				displayName:
					'Copy a webhook URL from above into <b>Callback URL</b> of the Media Generation node that creates the tasks: the <b>Test URL</b> while you try things out here, the <b>Production URL</b> once this workflow is active',
				name: 'callbackUrlNotice',
				type: 'notice',
				default: '',
			},
			{
				displayName: 'Events',
				name: 'events',
				type: 'multiOptions',
				required: true,
				options: [
					{
						name: 'Task Completed',
						value: 'taskCompleted',
						description: 'A task has its result',
					},
					{
						name: 'Task Failed',
						value: 'taskFailed',
						description: 'A task ended without a result',
					},
				],
				default: ['taskCompleted'],
				description: 'Which events start the workflow',
			},
			{
				displayName: 'Verify Signature',
				name: 'verifySignature',
				type: 'boolean',
				default: true,
				description:
					'Whether only callbacks that are signed with the Webhook HMAC Key of the credential are accepted. Turned off, anyone who knows the URL can start the workflow.',
			},
			{
				displayName: 'Options',
				name: 'options',
				type: 'collection',
				placeholder: 'Add option',
				default: {},
				options: optionFields,
			},
		],
	};

	webhookMethods = {
		default: {
			async checkExists(): Promise<boolean> {
				return false;
			},
			async create(this: IHookFunctions): Promise<boolean> {
				const { signingKeys } = await TaskService.connect(this);
				if (this.getNodeParameter('verifySignature') && !signingKeys)
					throw new NodeOperationError(
						this.getNode(),
						'The credential has no Webhook HMAC Key, so callbacks can not be verified',
						{
							description:
								'Generate a webhookHmacKey in your account settings with the service and paste it into the credential, or turn off Verify Signature if you accept callbacks from anyone.',
						},
					);
				return true;
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				rememberedEvents(this).forget();
				return true;
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await receiveCallback(this);
	}
}
