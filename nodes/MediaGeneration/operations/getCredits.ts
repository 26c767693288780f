import { optionsField, timeoutOption } from '../run/input/options';
import type { PlainOperation } from './operation';

export const getCreditsOperation: PlainOperation = {
	resource: 'account',
	value: 'getCredits',
	name: 'Get Credits',
	action: 'Get credits',
	description: 'Retrieve the number of credits the account has left',
	fields: [optionsField([timeoutOption])],
	prepare:
		({ service, settings }) =>
		async () => [{ json: { credits: await service.request('creditsPath', settings) } }],
};
