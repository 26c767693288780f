import type { INodeProperties } from 'n8n-workflow';
import { models } from '../../models';
import { FieldError, valueOf, type Field } from '../../models/field';
import type { ModelRequest } from '../../models/model';
import type { Item } from '../operation';

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
export const additionalInput: Field = {
	displayName: 'Additional Input',
	name: 'additionalInput',
	type: 'json',
	default: '{}',
	description:
		"A JSON object that is merged over the model's input, for what the service takes beyond the fields above",
};

/**
 * The model and input of an item's request, checked.
 * @throws {FieldError} when a field can't be sent
 */
export function requestOf({ read, option }: Item): ModelRequest {
	const id = read('model');
	const model = models.find((candidate) => candidate.id === id);
	if (!model)
		throw new FieldError(
			`Model "${String(id)}" is not one of this node's`,
			'Choose a model from the list. For any other model of the service choose Custom Model and give its ID.',
		);
	const request = model.request(read);
	const additional = valueOf(additionalInput, option(additionalInput.name));
	return { ...request, input: { ...request.input, ...(additional as object | undefined) } };
}
