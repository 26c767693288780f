import type { IExecuteFunctions } from 'n8n-workflow';
import { isInternalUrl } from '../../lib/isInternalUrl';
import { parseValue, webUrl, type Field } from '../../models/field';
import { defineOperation, optionsField, type Prepared } from '../operation';
import type { RecalledTask } from '../record';
import {
	costOptions,
	fineTuningOptions,
	inputFileOptions,
	prepareRequest,
	requestFields,
	type CreateRequest,
} from '../create/request';

const callbackUrl: Field = {
	displayName: 'Callback URL',
	name: 'callbackUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. https://n8n.example.com/webhook/…/webhook',
	hint: 'The URL of a Media Generation Trigger. Left blank, nothing is reported.',
	description:
		'Where the service reports the end of the task: the Production URL of a Media Generation Trigger in an active workflow. Without one, look at the task later with Get.',
	send: { shape: webUrl },
};

export const create = defineOperation<CreateRequest | RecalledTask>({
	resource: 'task',
	value: 'create',
	name: 'Start Without Waiting',
	action: 'Start a video or image without waiting',
	description: 'Start a task and continue at once; its result comes later',
	fields: [
		...requestFields,
		callbackUrl,
		optionsField([...costOptions, ...inputFileOptions, ...fineTuningOptions]),
	],
	creates: true,
	prepare: async (item) => {
		const url = parseValue(callbackUrl, item.read(callbackUrl.name)) as string | undefined;
		return { ...(await prepareRequest(item)), callBackUrl: url };
	},
	async run(prepared, context) {
		warnOfCallbackUrls(prepared, context);
		const { createTasks, showTasks } = await import('../create/createTasks');
		const { results } = await createTasks(prepared, context);
		return { outcomes: showTasks(results) };
	},
});

/** Warns of callback URLs that callbacks can't reach. Get can look at the tasks all the same. */
function warnOfCallbackUrls(
	prepared: Array<Prepared<CreateRequest | RecalledTask>>,
	context: IExecuteFunctions,
): void {
	const inside = prepared.flatMap(({ item, request }) => {
		const url = 'taskId' in request ? undefined : request.callBackUrl;
		if (!url || !isInternalUrl(url) || isInternalUrl(item.service.credentials.baseUrl)) return [];
		return new URL(url).origin;
	});
	for (const origin of new Set(inside))
		context.addExecutionHints({
			type: 'warning',
			message: `The service can't reach the 'Callback URL': ${origin} is an address inside this network. Set the environment variable WEBHOOK_URL of n8n to its public address, and copy the URL again.`,
		});
}
