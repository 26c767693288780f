import { valueOf, webUrl, type Field } from '../../models/field';
import { defineOperation, optionsField, timeoutOption, type Batch } from '../operation';
import { paceOptions } from './pace';
import { isInternalUrl } from './reachable';
import { requestFields, requestOf, requestOptions } from './request';

const callbackUrl: Field = {
	displayName: 'Callback URL',
	name: 'callbackUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. https://n8n.example.com/webhook/…/webhook',
	description:
		'Where the service reports the end of the task: the Production URL of a Media Generation Trigger in an active workflow. Left blank, nothing is reported; look at the task later with Get.',
	send: { shape: webUrl },
};

export const create = defineOperation({
	resource: 'task',
	value: 'create',
	name: 'Create',
	action: 'Create task',
	description: 'Start a task and go on at once; the result comes later',
	fields: [
		...requestFields,
		callbackUrl,
		optionsField([...requestOptions, ...paceOptions, timeoutOption]),
	],
	creates: true,
	check: async (item) => ({
		...(await requestOf(item)),
		callBackUrl: valueOf(callbackUrl, item.read(callbackUrl.name)) as string | undefined,
	}),
	async run(entries, batch) {
		const urls = new Set(entries.map(({ checked }) => checked.callBackUrl));
		for (const url of urls) if (url) hintAt(url, batch);
		const { createAll } = await import('./createAll');
		return await createAll(entries, batch);
	},
});

/** Tells the user of a callback URL at which nothing may arrive. The task is created all the same: it can be looked at. */
function hintAt(url: string, { context, service }: Batch): void {
	if (new URL(url).pathname.includes('/webhook-test/'))
		context.addExecutionHints({
			type: 'warning',
			message:
				'Callback URL is a Test URL: it takes one call, while the panel of the trigger listens. For tasks that end later, use the Production URL of an active workflow.',
		});
	if (isInternalUrl(url) && !isInternalUrl(service.credentials.baseUrl))
		context.addExecutionHints({
			type: 'warning',
			message: `The service can not reach the Callback URL: ${new URL(url).origin} is an address inside this network. Set the environment variable WEBHOOK_URL of n8n to its public address, and copy the URL again.`,
		});
}
