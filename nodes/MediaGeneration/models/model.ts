import { updateDisplayOptions, type INodeProperties } from 'n8n-workflow';
import { toProperty, type Field } from './field';

/** In Options, for models with their own fields. */
export const modelIdOption: INodeProperties = {
	displayName: 'Model ID',
	name: 'modelId',
	type: 'string',
	default: '',
	placeholder: 'e.g. brand-3.0/motion-control',
	description:
		"The model's identifier at your service, sent in place of the usual one. Fields and file checks stay those of the chosen model.",
	displayOptions: { hide: { '/model': ['any'] } },
};

export interface Model {
	/** The service's identifier, with version and operation. */
	id: string;
	/** Name in the editor. */
	name: string;
	description: string;
	/** In the order in which the editor shows them. */
	fields: Field[];
	/** The fields as n8n shows them when the model is chosen. */
	properties: INodeProperties[];
}

/** Derives from the fields what the editor shows. */
export const defineModel = (model: Omit<Model, 'properties'>): Model => ({
	...model,
	properties: updateDisplayOptions({ show: { model: [model.id] } }, model.fields.map(toProperty)),
});
