import { updateDisplayOptions, type INodeProperties } from 'n8n-workflow';
import { parseValue, toProperty, toRequestKey, type Field, type OptionReader } from './field';
import { Media, replaceEach } from './media';

/** A model's part of a createTask request. Files in `input` are still Media. */
export interface ModelRequest {
	model: string;
	input: Record<string, unknown>;
	/** From a pasted body, unchecked. It serves where the operation has no callback URL of its own. */
	callBackUrl?: unknown;
	/** What may be a mistake, though it is sent. */
	warning?: string;
	/**
	 * Checks the whole input, once Extra Fields is merged in.
	 * @throws {UserError} when it can't be sent
	 */
	check?: (input: Record<string, unknown>) => void;
}

/** What a request is made of. */
export interface RequestSource {
	/** Reads a parameter of the node; undefined or blank if the user left it blank. */
	read: (name: string) => unknown;
	option: OptionReader;
	/** The item's own columns; undefined where none may be taken. */
	columns?: object;
	/** Says whether the item has a binary field of exactly this name. */
	hasFile: (name: string) => boolean;
	/** Reads the service's description of a model; undefined if there is none. */
	describe: (model: string) => Promise<unknown>;
}

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
	/**
	 * Turns the node's parameters into a request.
	 * @throws {UserError} for the first field that can't be sent
	 */
	request: (source: RequestSource) => Promise<ModelRequest>;
}

/**
 * Derives from the fields what the editor shows, what is valid and what is sent.
 * @param request only for a model whose request is more than its fields
 */
export function defineModel(
	model: Omit<Model, 'properties' | 'request'> & Partial<Pick<Model, 'request'>>,
): Model {
	const { id, fields } = model;
	const request: Model['request'] = async ({ read, option }) => {
		const input: Record<string, unknown> = {};
		for (const field of fields) {
			const value = parseValue(field, read(field.name));
			const label = (media: Media) => Object.assign(media, { label: field.displayName });
			if (value !== undefined) input[toRequestKey(field)] = await replaceEach(value, Media, label);
		}
		const named = String(option(modelIdOption.name) ?? '').trim();
		return { model: named || id, input };
	};
	const properties = updateDisplayOptions({ show: { model: [id] } }, fields.map(toProperty));
	return { request, ...model, properties };
}
