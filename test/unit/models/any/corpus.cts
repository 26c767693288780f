import type { ResourceMapperField } from 'n8n-workflow';
import { corpus } from '../../../../dev/service/catalogue.cts';
import { isOwnEntry } from '../../../../nodes/MediaGeneration/models/any/modelInput';
import { readFields } from './modelFields.ts';

/** The models of the corpus whose documents give fields. */
export const modelsWithFields = corpus.flatMap(({ entry: { model }, openapi }) => {
	const { fields } = readFields(model, openapi);
	return fields.length && openapi !== null && typeof openapi === 'object'
		? [{ model, openapi, fields }]
		: [];
});

export const findModel = (name: string) => {
	const found = modelsWithFields.find(({ model }) => model === name);
	if (!found) throw new Error(`The corpus has no fields of ${name}`);
	return found;
};

export const listProperties = (fields: ResourceMapperField[]) =>
	fields.filter(({ id }) => !isOwnEntry(id));
