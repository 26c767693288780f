import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { findModelSchema } from '../../api/catalogue';
import { findFormatByType, formats, type Format, type MediaFacts } from '../../media/formats';
import { checkLimits } from '../../media/limits';
import { models } from '../../models';
import { describeModels, listModelProperties, toBuilderHint } from '../../models/builders';
import { mediaFieldsOption } from '../../models/any/custom';
import { buildFieldError, parseValue, type Field } from '../../models/field';
import { Media, replaceEach } from '../../models/media';
import { modelIdOption, type ModelRequest } from '../../models/model';
import { findInputFile, InputFile, listBinaryFields } from './inputFile';
import { readOption, timeoutOption, type Item } from '../operation';
import { keepCreditsOption, maxTasksOption } from './budget';

/** The list of models and the fields of each, for every operation that creates a task. */
export const requestFields: INodeProperties[] = [
	{
		displayName: 'Model',
		name: 'model',
		type: 'options',
		noDataExpression: true,
		options: models.map(({ id, name, description }) => ({ name, value: id, description })),
		default: models[0]?.id,
		description: 'What generates the media; the fields below follow from it',
		builderHint: toBuilderHint(describeModels(models)),
	},
	...listModelProperties(models),
];

/** In Options: input beyond the model's fields. */
const additionalInput: Field = {
	displayName: 'Extra Fields (JSON)',
	name: 'additionalInput',
	type: 'json',
	default: '{}',
	description:
		"A JSON object that is merged over the model's input, for what the service takes beyond the fields above",
};

/** In Options: whether media URLs are checked before the user pays. */
const checkUrls: INodeProperties = {
	displayName: 'Check Media URLs',
	name: 'checkUrls',
	type: 'boolean',
	default: false,
	description:
		'Whether to ask the hosts of media URLs for type and size first, if the model limits them. If a host does not answer, its URL is sent without a check. Files in binary fields are always checked.',
};

/** In Options: how fast tasks are created. */
export const rateOption: INodeProperties = {
	displayName: 'Tasks per 10 Seconds',
	name: 'tasksPer10Seconds',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 10_000, numberPrecision: 0 },
	default: 18,
	description:
		'How many tasks are created within ten seconds at most; 0 sets no limit. Services of this kind usually refuse more than 20.',
};

export const concurrencyOption: INodeProperties = {
	displayName: 'Tasks Started at Once',
	name: 'concurrency',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 1_000, numberPrecision: 0 },
	default: 5,
	description: 'How many tasks are created at the same time',
};

/** Entries of Options of every operation that creates tasks: what a run may cost. */
export const costOptions = [maxTasksOption, keepCreditsOption];

/** Entries of Options of every operation that creates tasks: the files that are sent. */
export const inputFileOptions = [modelIdOption, checkUrls, mediaFieldsOption];

/** Entries of Options of every operation that creates tasks: what few need. */
export const fineTuningOptions = [rateOption, concurrencyOption, timeoutOption, additionalInput];

/** A request for a task. Where its input has an InputFile, the file is uploaded before. */
export type TaskRequest = Pick<ModelRequest, 'model' | 'input' | 'needsCallback'>;

/**
 * Turns an item into a request, and checks all its fields and files.
 * @throws {UserError} when a field or file can't be sent
 */
export async function prepareRequest(item: Item): Promise<TaskRequest> {
	const { read, option, service } = item;
	const id = read('model');
	const model = models.find((candidate) => candidate.id === id);
	if (!model)
		throw buildFieldError(
			`This node has no model "${String(id)}"`,
			'Choose a model from the list. For any other model of the service choose Any Model.',
		);
	const request = await model.request(
		read,
		option,
		async (name) => await findModelSchema(service, name),
	);
	const additional = parseValue(additionalInput, option(additionalInput.name));
	const input = { ...request.input, ...(additional as object | undefined) };
	request.check?.(input);
	const { needsCallback } = request;
	return { model: request.model, input: await findFiles(item, input), needsCallback };
}

/**
 * Checks that a model gets a callback URL if it requires one.
 * @param hint says how to give it one
 * @throws {UserError} before anything is created
 */
export function checkCallback(
	{ model, needsCallback }: Pick<TaskRequest, 'model' | 'needsCallback'>,
	callBackUrl: string | undefined,
	hint: string,
): void {
	if (needsCallback && callBackUrl === undefined)
		throw buildFieldError(
			`The model ${model} needs a callback URL`,
			`Nothing was created. ${hint}`,
		);
}

/**
 * Finds the files that the media of an input name, each once, and checks them against the model's limits. What can't be read from a
 * file isn't checked, and the node's hints warn of it.
 * @returns the input with files and texts in place of its media
 * @throws {UserError} when a binary field does not exist, or a file is certainly outside of the limits
 */
async function findFiles(
	item: Item,
	input: Record<string, unknown>,
): Promise<Record<string, unknown>> {
	const files = new Map<string, InputFile>();
	const find = async (media: Media): Promise<InputFile | string> => {
		const { source, label, isUrl, isGuess } = media;
		if (isUrl) {
			if (readOption(item.option, checkUrls) === true) await checkUrl(item.context, media);
			return source;
		}
		if (isGuess && !listBinaryFields(item).includes(source)) return source;
		const file = files.get(source) ?? (await findInputFile(item, source, label));
		files.set(source, file);
		await checkFile(item, media, file);
		return file;
	};
	return (await replaceEach(input, Media, find)) as Record<string, unknown>;
}

async function checkFile({ context, index }: Item, media: Media, file: InputFile): Promise<void> {
	const { label, source, limits } = media;
	if (!limits) return;
	const { refused, unknown } = checkLimits(limits, await file.inspect(), file.size);
	refuse(media, refused);
	if (unknown.length)
		context.addExecutionHints({
			type: 'warning',
			message: `'${label}' [item ${index}]: the file in "${source}" was sent without a check of its ${unknown.join(' and its ')}, which could not be read.`,
		});
}

/** The timeout of HEAD requests, in milliseconds. */
const HEAD_TIMEOUT = 5_000;

/** Asks the host of a URL for type and size. If one is unknown, it isn't checked. */
async function checkUrl({ helpers }: IExecuteFunctions, media: Media): Promise<void> {
	if (!media.limits) return;
	let headers: Record<string, unknown>;
	try {
		({ headers } = (await helpers.httpRequest({
			url: media.source,
			method: 'HEAD',
			timeout: HEAD_TIMEOUT,
			returnFullResponse: true,
		})) as { headers: Record<string, unknown> });
	} catch {
		return;
	}
	const size = Number.parseInt(String(headers['content-length']), 10);
	const facts = readContentType(String(headers['content-type']));
	refuse(media, checkLimits(media.limits, facts, Number.isNaN(size) ? undefined : size).refused);
}

function readContentType(contentType: string): MediaFacts | undefined {
	const type = contentType.split(';')[0]?.trim().toLowerCase();
	const format = type && findFormatByType(type);
	return format ? { ...(formats[format] as Format), format } : undefined;
}

function refuse({ label, source, isUrl }: Media, refused: string[]): void {
	if (refused.length)
		throw buildFieldError(
			`'${label}' can't be used: the file ${isUrl ? 'at the URL' : `in "${source}"`} ${refused.join(', and it ')}`,
			'Nothing was sent for this item. Give a file within the limits, then run the node again.',
		);
}

/** Uploads the files of a request, each once. @returns the request's input, with URLs in their place */
export async function uploadFiles(
	item: Item,
	{ input }: TaskRequest,
): Promise<Record<string, unknown>> {
	const urls = new Map<InputFile, string>();
	const upload = async (file: InputFile): Promise<string> => {
		const url = urls.get(file) ?? (await file.upload(item)).url;
		urls.set(file, url);
		return url;
	};
	return (await replaceEach(input, InputFile, upload)) as Record<string, unknown>;
}
