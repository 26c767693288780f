import type { INodeProperties } from 'n8n-workflow';
import { keyOf, propertyOf, valueOf, type Field } from './field';
import { mediaIn } from './media';

/** What a model adds to a createTask request; files in `input` are still Media, of whatever kind. */
export interface ModelRequest {
	model: string;
	input: Record<string, unknown>;
}

/** Reads a node's parameter by its name; undefined or blank where the user left it so. */
export type ReadParameter = (name: string) => unknown;

interface ModelDefinition {
	/** The service's identifier, version and operation included. */
	id: string;
	/** Name in the editor. */
	name: string;
	description: string;
	/** In the order in which the editor shows them. */
	fields: Field[];
	/** Only for a model whose request is not simply its fields: from valid values, by field name. */
	request?: (values: Record<string, unknown>) => ModelRequest;
}

export interface Model {
	id: string;
	name: string;
	description: string;
	fields: Field[];
	/** The model's fields as n8n shows them when the model is chosen. */
	properties: INodeProperties[];
	/**
	 * A node's parameters as a request.
	 * @throws {FieldError} for the first field that can't be sent
	 */
	request: (read: ReadParameter) => ModelRequest;
}

/** Makes a model of its declaration: what the editor shows, what is valid and what is sent all follow from the fields. */
export function defineModel({ id, name, description, fields, request }: ModelDefinition): Model {
	return {
		id,
		name,
		description,
		fields,
		properties: fields.map((field) => ({
			...propertyOf(field),
			displayOptions: {
				...field.displayOptions,
				show: { ...field.displayOptions?.show, model: [id] },
			},
		})),
		request(read) {
			const values = fields
				.map((field) => [field, valueOf(field, read(field.name))] as const)
				.filter(([, value]) => value !== undefined);
			for (const [{ displayName }, value] of values)
				for (const media of mediaIn(value)) media.label = displayName;
			if (request)
				return request(Object.fromEntries(values.map(([field, value]) => [field.name, value])));
			return {
				model: id,
				input: Object.fromEntries(values.map(([field, value]) => [keyOf(field), value])),
			};
		},
	};
}
