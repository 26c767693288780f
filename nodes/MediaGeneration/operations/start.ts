import { TRIGGER_NAME } from '../lib/brand';
import { modelFields } from '../models';
import { parseValue, webUrl, type Field } from '../models/field';
import { buildOptionsField, prepareRequest } from '../run/request';
import type { CreatingOperation } from './operation';

const callbackUrl: Field = {
	displayName: 'Callback URL',
	name: 'callbackUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. https://n8n.example.com/webhook/…/webhook',
	hint: `The URL of a ${TRIGGER_NAME}. If blank, nothing is reported.`,
	description: `Where the service reports the end of the task: the Production URL of a ${TRIGGER_NAME} in an active workflow. Without one, look at the task later with Get.`,
	send: { shape: webUrl },
};

const readPasted = (pasted: unknown) =>
	parseValue({ ...callbackUrl, displayName: 'callBackUrl in Input (JSON)' }, pasted) as
		| string
		| undefined;

export const start: CreatingOperation = {
	resource: 'task',
	value: 'start',
	name: 'Start Without Waiting',
	action: 'Start a video or image without waiting',
	description: 'Start a task and continue at once; its result comes later',
	fields: [...modelFields, callbackUrl, buildOptionsField()],
	request: async (item) => {
		const own = parseValue(callbackUrl, item.read(callbackUrl.name)) as string | undefined;
		return await prepareRequest(item, (pasted) => own ?? readPasted(pasted));
	},
};
