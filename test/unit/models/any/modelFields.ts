import type { ResourceMapperFields } from 'n8n-workflow';
import { findInput } from '../../../../nodes/MediaGeneration/models/any/modelInput';
import {
	buildNotice,
	toMapperFields,
} from '../../../../nodes/MediaGeneration/models/any/schemaFields';

/** Makes the editor's fields of a model by its document, or the notice that there are none. */
export function readFields(model: string, document: unknown): ResourceMapperFields {
	const input = findInput(model, document);
	return typeof input === 'string' ? buildNotice(input) : toMapperFields(input);
}
