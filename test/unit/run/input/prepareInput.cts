import type { IBinaryData, IDataObject, IWorkflowSettings } from 'n8n-workflow';
import { buildDocument } from '../../../../dev/service/catalogue.cts';
import type { TaskService } from '../../../../nodes/MediaGeneration/api/client';
import { FileToSend } from '../../../../nodes/MediaGeneration/models/values';
import { startOperation } from '../../../../nodes/MediaGeneration/operations/start';
import { prepareRequest } from '../../../../nodes/MediaGeneration/run/input/request';
import { readItem } from '../../../../nodes/MediaGeneration/run/input/item';
import { evaluate } from '../../expression.ts';
import { buildCall } from '../../n8n.ts';

export type Values = Record<string, unknown>;

/** A node and one of its items. */
export interface ItemSetup {
	/** As the workflow stores them. */
	parameters: Values;
	json?: IDataObject;
	/** The item's binary fields, each by its name, its bytes, or what n8n stores. */
	files?: Record<string, string | Buffer | Partial<IBinaryData>>;
	/** What the service says of the model, or how it fails; undefined: it has no catalogue. */
	openapi?: unknown;
	/** Of the workflow. */
	settings?: IWorkflowSettings;
	isTool?: boolean;
	/** The operation is Generate, which has no callback URL. */
	isGenerate?: boolean;
	/** Of the credential. By default each call has another one. */
	account?: object;
}

export const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ', 'base64');

const toStored = (file: string | Buffer | Partial<IBinaryData>): Partial<IBinaryData> => {
	if (typeof file === 'object' && !Buffer.isBuffer(file)) return { data: '', ...file };
	return { data: Buffer.from(file).toString('base64'), mimeType: 'image/png' };
};

const helpers = {
	getBinaryMetadata: async () => ({ fileSize: PNG.length }),
	getBinaryStream: async () => [PNG],
};

/** Each call has an account of its own, so that none finds what the catalogue said to another. */
let accounts = 0;

/** Builds n8n's context of a run with this item, and the service that it asks. */
function build({ parameters, json = {}, files = {}, openapi, ...setup }: ItemSetup) {
	const { settings = {}, isTool, account } = setup;
	const binary = Object.fromEntries(
		Object.entries(files).map(([name, file]) => [name, toStored(file)]),
	);
	const more = {
		getInputData: () => [{ json, binary }],
		getWorkflowSettings: () => settings,
		getNodeParameter: (name: string, _item: number, none: unknown, options?: object) =>
			options ? (parameters[name] ?? none) : evaluate(parameters[name] ?? none, json),
		evaluateExpression: (expression: string) => evaluate(`=${expression}`, json),
		additionalData: { webhookWaitingBaseUrl: 'https://n8n.example/webhook-waiting' },
	};
	const request = async () => {
		if (openapi instanceof Error || openapi === undefined) throw openapi ?? new Error('404');
		return openapi;
	};
	const credentials = account ?? { accessToken: String(accounts++) };
	const service = { credentials, request };
	return { call: buildCall({ parameters, isTool, helpers }, more), service };
}

/** Reads the item, and prepares its request. */
export async function prepare(setup: ItemSetup) {
	const { call, service } = build(setup);
	const getService = async () => service as unknown as TaskService;
	const item = await readItem(call, startOperation.fields, 0, getService);
	const choose = (pasted: unknown) => pasted as string | undefined;
	return await prepareRequest(item, setup.isGenerate ? undefined : choose);
}

/** Shows files as `file: <binary field>`. */
export const show = (input: unknown): unknown =>
	JSON.parse(
		JSON.stringify(input, (_, part: unknown) =>
			part instanceof FileToSend ? `file: ${part.field}` : part,
		),
	);

/** Prepares the request, and shows its input. */
export const readInput = async (setup: ItemSetup): Promise<unknown> =>
	show((await prepare(setup)).input);

/** How an item gives values. */
const ANY = { model: 'any', anyModel: 'brand/any' };
export const inFields = (value: Values, more: Values = {}) => ({
	parameters: { ...ANY, anyFields: { mappingMode: 'defineBelow', value }, ...more },
});
export const inJson = (anyInput: unknown, more: Values = {}) => ({
	parameters: { ...ANY, inputMode: 'json', anyInput, ...more },
});
export const inColumns = (json: object, more: Values = {}) => ({
	parameters: { ...ANY, anyFields: { mappingMode: 'autoMapInputData', value: null }, ...more },
	json: json as IDataObject,
});

/** A document with a model of these properties. */
export const describeModel = (properties: Values, required: string[] = []) =>
	buildDocument({ type: 'object', properties, required });

export const text = { type: 'string' };
export const link = { type: 'string', format: 'uri' };
export const texts = { type: 'array', items: text };
export const links = { type: 'array', items: link };
