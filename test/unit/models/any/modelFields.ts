import type { ResourceMapperFields } from 'n8n-workflow';
import { corpus } from '../../../../dev/service/catalogue.cts';
import { buildNotice, toMapperFields } from '../../../../nodes/MediaGeneration/models/any/views';
import { findInput } from '../../../../nodes/MediaGeneration/models/readSchema';

/** Makes the editor's fields of a model by its document, or the notice that there are none. */
export function readFields(model: string, document: unknown): ResourceMapperFields {
	const found = findInput(model, document);
	return 'schema' in found ? toMapperFields(model, found.schema) : buildNotice(found.reason);
}

/** The models of the corpus that the editor has fields of. */
export const modelsWithFields = corpus.flatMap(({ entry: { model }, openapi }) => {
	const { fields } = readFields(model, openapi);
	return fields.length && openapi !== null && typeof openapi === 'object'
		? [{ model, openapi, fields }]
		: [];
});

export function findModel(name: string) {
	const found = modelsWithFields.find(({ model }) => model === name);
	if (!found) throw new Error(`The corpus has no fields of ${name}`);
	return found;
}
