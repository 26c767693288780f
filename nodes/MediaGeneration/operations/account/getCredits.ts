import { defineOperation, eachItem, optionsField, timeoutOption } from '../operation';

export const getCredits = defineOperation({
	resource: 'account',
	value: 'getCredits',
	name: 'Get Credits',
	action: 'Get credits',
	description: 'Get the credits that the account has left',
	fields: [optionsField([timeoutOption])],
	check: () => undefined,
	run: eachItem(async ({ item }, service) => ({
		json: { credits: await service.getCredits(item.settings) },
	})),
});
