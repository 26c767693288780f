import type { INodeProperties } from 'n8n-workflow';
import { models } from '../../models';
import { FieldError, valueOf, type Field } from '../../models/field';
import type { ModelRequest } from '../../models/model';
import type { Item } from '../operation';
import type { MediaFiles } from './mediaFiles';

/** The choice of a model and the fields of each: what every operation that creates a task shows. */
export const requestFields: INodeProperties[] = [
	{
		displayName: 'Model',
		name: 'model',
		type: 'options',
		noDataExpression: true,
		options: models.map(({ id, name, description }) => ({ name, value: id, description })),
		default: 'alpha-3.0/motion-control',
		description: 'What generates the media; the fields below follow from it',
	},
	...models.flatMap(({ properties }) => properties),
];

/** In Options: what the model takes beyond its fields. */
const additionalInput: Field = {
	displayName: 'Additional Input',
	name: 'additionalInput',
	type: 'json',
	default: '{}',
	description:
		"A JSON object that is merged over the model's input, for what the service takes beyond the fields above",
};

/** In Options: whether media that are given by URL are looked at before they are paid for. */
const checkUrls: INodeProperties = {
	displayName: 'Check Media URLs',
	name: 'checkUrls',
	type: 'boolean',
	default: false,
	description:
		'Whether the hosts of media URLs are asked for type and size first, where the model has limits for them. A host that does not answer is not taken for a fault. Files in binary fields are always checked.',
};

/** In Options: what concerns a model's input. */
export const requestOptions = [additionalInput, checkUrls];

/** A request for a task, and the files that are uploaded for it. */
export interface TaskRequest extends ModelRequest {
	files: MediaFiles;
}

/**
 * An item's request, with all its fields and files checked.
 * @throws {FieldError} when a field or file can't be sent
 */
export async function requestOf(item: Item): Promise<TaskRequest> {
	const { read, option } = item;
	const id = read('model');
	const model = models.find((candidate) => candidate.id === id);
	if (!model)
		throw new FieldError(
			`Model "${String(id)}" is not one of this node's`,
			'Choose a model from the list. For any other model of the service choose Custom Model and give its ID.',
		);
	const request = model.request(read);
	const additional = valueOf(additionalInput, option(additionalInput.name));
	const input = { ...request.input, ...(additional as object | undefined) };
	const { checkMedia } = await import('./mediaFiles');
	const files = await checkMedia(item, { ...request, input }, option(checkUrls.name) === true);
	return { model: request.model, input, files };
}
