import { optionsField, timeoutOption } from '../run/input/options';
import { defineOperation, runEach } from './operation';

export const getCredits = defineOperation({
	resource: 'account',
	value: 'getCredits',
	name: 'Get Credits',
	action: 'Get credits',
	description: 'Retrieve the number of credits the account has left',
	fields: [optionsField([timeoutOption])],
	prepare: () => undefined,
	run: runEach(async ({ service, settings }) => [
		{ json: { credits: await service.getCredits(settings) } },
	]),
});
