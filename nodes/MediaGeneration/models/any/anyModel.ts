import { defineModel } from '../model';
import { anyFields } from './anyFields';

export const anyModel = defineModel({
	id: 'custom',
	name: 'Any Model (Text to Image, Text to Video, Speech, Music)',
	description: 'Every other model of the service, with its price and its own fields',
	fields: anyFields,
	async request(...readers) {
		const { requestAnyModel } = await import('./requestAnyModel');
		return await requestAnyModel(...readers);
	},
});
