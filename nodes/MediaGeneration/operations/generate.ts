import { modelFields } from '../models';
import { readOption, type Field } from '../models/field';
import { creationOptionsField } from '../run/input/options';
import type { HowToWait } from '../run/ledger/ledger';
import type { CreatingOperation } from './operation';
import { notInTools, readWaitSettings, waitOptions } from './sharedFields';

const howToWait: Field = {
	displayName: 'How to Wait',
	name: 'howToWait',
	type: 'options',
	displayOptions: notInTools,
	options: [
		{
			name: 'Automatic',
			value: 'automatic',
			description:
				'Sleeps if the service can reach this n8n, otherwise keeps asking; a hint then says why',
		},
		{
			name: 'Sleep Until Notified',
			value: 'callback',
			description: 'Sleeps until the service calls back. It must be able to reach this n8n.',
		},
		{
			name: 'Keep Asking',
			value: 'polling',
			description: 'Stays awake and asks the service again and again. Works on any n8n.',
		},
	],
	default: 'automatic',
	description: "Callbacks are verified if the credential has a 'Webhook HMAC Key'",
	send: { schema: { enum: ['automatic', 'callback', 'polling'] } },
};

export const generateOperation: CreatingOperation = {
	resource: 'task',
	value: 'generate',
	name: 'Generate',
	action: 'Generate a video or image',
	description: 'Create a video, an image, speech or music, and wait until it is finished',
	fields: [...modelFields, creationOptionsField([howToWait, ...waitOptions])],
	buildRequest: async (item) => {
		const { prepareRequest } = await import('../run/input/request');
		return await prepareRequest(item);
	},
	readSettings: (item) => ({
		...readWaitSettings(item),
		howToWait: (readOption(item.option, howToWait) ?? howToWait.default) as HowToWait,
	}),
};
