import { UserError } from 'n8n-workflow';
import { anyModel } from '../models/any/fields';
import type { PlainOperation } from './operation';
import { readTextField } from './sharedFields';

export const getFieldsOperation: PlainOperation = {
	resource: 'model',
	value: 'getFields',
	name: 'Get Fields',
	action: 'Get the fields of a model',
	description: 'List the fields that a model takes as its input',
	fields: [anyModel],
	prepare: (item) => {
		const model = readTextField(item, anyModel);
		return async () => {
			const { readModelDocument } = await import('../api/catalogue');
			const { findInput } = await import('../models/readSchema');
			const { listFieldItems } = await import('../models/any/views');
			const input = findInput(model, await readModelDocument(item.service, model));
			if ('reason' in input) throw new UserError(input.reason);
			return listFieldItems(input.schema).map((json) => ({ json }));
		};
	},
};
