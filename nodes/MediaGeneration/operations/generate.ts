import { modelFields } from '../models';
import { buildOptionsField } from '../run/input/options';
import type { CreatingOperation } from './operation';
import { howToWaitOption, readHowToWait, readWaitSettings, waitOptions } from './waitOptions';

export const generate: CreatingOperation = {
	resource: 'task',
	value: 'generate',
	name: 'Generate',
	action: 'Generate a video or image',
	description:
		'Create a video, an image, speech or music, and continue with it when it is finished',
	fields: [...modelFields, buildOptionsField([howToWaitOption, ...waitOptions])],
	request: async (item) => {
		const { prepareRequest } = await import('../run/input/request');
		return await prepareRequest(item);
	},
	readSettings: (item) => ({ ...readWaitSettings(item), howToWait: readHowToWait(item) }),
};
