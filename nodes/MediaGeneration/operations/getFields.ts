import { UserError } from 'n8n-workflow';
import type { TaskService } from '../api/client';
import { anyModel } from '../models/any/fields';
import { parseValue } from '../models/field';
import { defineOperation, runEach } from './operation';

export const getFields = defineOperation<string>({
	resource: 'model',
	value: 'getFields',
	name: 'Get Fields',
	action: 'Get the fields of a model',
	description: 'List the fields that a model of the service takes as its input',
	fields: [anyModel],
	prepare: ({ read }) => parseValue(anyModel, read(anyModel.name)) as string,
	run: runEach(async ({ service }, model) => {
		const { findInput } = await import('../models/readSchema');
		const { toFieldItem } = await import('../models/any/views');
		const found = findInput(model, await readDocument(service, model));
		if ('reason' in found) throw new UserError(found.reason);
		return found.input.properties.map((property) => ({ json: toFieldItem(property) }));
	}),
});

/** @throws {UserError} when the service knows no such model, or has no catalogue */
async function readDocument(service: TaskService, model: string): Promise<unknown> {
	const { getModelSchema } = await import('../api/catalogue');
	const { isOfKind } = await import('../api/failure');
	const { searchCatalogue } = await import('./searchCatalogue');
	return await getModelSchema(service, model).catch(async (error: Error) => {
		if (!isOfKind(error, 'notFound')) throw error;
		// Without a catalogue, this says so.
		await searchCatalogue(service);
		throw new UserError(`The service lists no model "${model}"`, {
			description: `Check '${anyModel.displayName}': choose it from the list, or find it with Get Many of the resource Model.`,
		});
	});
}
