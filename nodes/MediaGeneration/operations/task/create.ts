import { valueOf, webUrl, type Field } from '../../models/field';
import { defineOperation, optionsField, timeoutOption } from '../operation';
import { createAll, paceOptions } from './createAll';
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
	run: async (entries, batch) => await createAll(entries, batch),
});
