import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { methods } from './editor/methods';
import { operationProperties, subtitle } from './editor/properties';

/** Wakes an execution that sleeps. Each execution has its own URL, so nothing is registered beforehand. */
const wakeWebhooks: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: 'POST',
		responseMode: 'onReceived',
		path: 'media-generation',
		restartWebhook: true,
		// Blank: n8n then answers with our webhookResponse, after it has stored that the execution
		// continues.
		responseData: '',
	},
];

/** For AI builders. n8n before 2.20 reads `message`. */
const searchHint =
	'Makes and edits videos, images and sound with AI models: image to video, text to video, reference to video, motion control, text to image, image edit, text to speech, music. Use resource task, operation generate: its items have the files as binary data and their links in resultUrls. Each task costs credits. Choose the model any and find one with searchModels; take another one listed in model only if the service is known to have it.';
const builderHint = {
	searchHint,
	message: searchHint,
	relatedNodes: [
		{
			nodeType: 'n8n-nodes-media-generation.mediaGenerationTrigger',
			relationHint:
				'Starts a workflow when a task ends whose callbackUrl is its URL; not needed with generate',
		},
	],
};

/** The code of a run is imported when it runs: n8n loads this file at its start, for the editor. */
export class MediaGeneration implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Media Generation',
		name: 'mediaGeneration',
		icon: {
			light: 'file:../../icons/media-generation.svg',
			dark: 'file:../../icons/media-generation.dark.svg',
		},
		group: ['transform'],
		// Not 1: n8n evaluates an expression of its own at each webhook call of a version 1.
		version: 1.1,
		subtitle,
		description: 'Create videos and images with AI models, and get them when they are finished',
		defaults: { name: 'Media Generation' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: true,
		builderHint,
		webhooks: wakeWebhooks,
		waitingNodeTooltip:
			"Nothing to do: your file is being made. If you leave, find it in Executions. Stop doesn't cancel the task, which is paid for: its ID is in n8n's log and in the execution's custom data.",
		credentials: [{ name: 'mediaGenerationApi', required: true, testedBy: 'testCredential' }],
		properties: operationProperties,
	};

	methods = methods;

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const { executeOperation } = await import('./operations/execute');
		return await executeOperation(this);
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		const { wakeExecution } = await import('./run/sleep/wake');
		return await wakeExecution(this);
	}
}
