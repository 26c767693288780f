import { z } from 'zod';
import { isDeeper, parseJson } from '../lib/json';
import { isWebUrl } from '../lib/url';
import { TASK_ID } from './service';

/**
 * Schemas of what the service sends: answers and callbacks. They name only the keys that we read,
 * and in `describe` what is missing where an answer doesn't fit. What the contract does not show
 * follows public services of this kind.
 */

/** The deepest nesting of JSON from elsewhere. n8n stores items by recursion. */
export const JSON_LEVELS = 64;

/** Parses JSON without rounding a long task ID; undefined if it is none, or nested too deep. */
export function parseServiceJson(text: string): unknown {
	const value = parseJson(text.replace(/("taskId"\s*:\s*)(\d+)(?=\s*[,}])/g, '$1"$2"'));
	return isDeeper(value, JSON_LEVELS) ? undefined : value;
}

const text = z.string().trim();

/** JSON has numbers beyond what a number here can be: `1e999`. */
const finite = (schema: z.ZodType<number, z.ZodTypeDef, unknown>) => schema.refine(Number.isFinite);

export const integer = finite(z.union([z.number().int(), text.regex(/^-?\d+$/).transform(Number)]));

export const number = finite(
	z.union([z.number(), text.regex(/^-?\d+(\.\d+)?$/).transform(Number)]),
);

export const nonEmptyText = z.string().min(1);

/** The contract has text. A number is accepted too. */
export const taskId = z.union([
	z.string().regex(TASK_ID),
	z.number().int().safe().transform(String),
]);

/** Characters that end a line, or change how the rest of it looks, in a log or the editor. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]+/gu;

/** The longest message of the service that is shown, in characters. */
const LONGEST_MESSAGE = 500;

/** A message for people, on one line and cut to a length. */
export function toMessage(text: string): string {
	// Twice as much as is shown: a character may be a pair.
	const start = text.slice(0, 2 * LONGEST_MESSAGE);
	const characters = [...start.replace(CONTROL_CHARACTERS, ' ').trim()];
	if (characters.length <= LONGEST_MESSAGE) return characters.join('');
	return `${characters.slice(0, LONGEST_MESSAGE - 1).join('')}…`;
}

/** A message that is not blank. */
export const message = z
	.string()
	.transform(toMessage)
	.refine((text) => text !== '');

/** Ignores a value of another form. */
const tolerant = <T extends z.ZodTypeAny>(schema: T) => schema.optional().catch(undefined);

/** `{ code, msg or message, data }`, around every answer: what it says of `data`. */
export const envelope = z
	.object({ code: integer, msg: tolerant(message), message: tolerant(message) })
	.transform(({ code, msg, message: other }) => ({ code, text: msg ?? other }));

export type Envelope = z.output<typeof envelope>;

/** The part of a createTask answer's `data` that means a task exists, whatever else it says. */
export const createdTask = z.object({ taskId }).describe('task ID');

/** JSON in a string. Some services send the object itself. Other text stays text. */
export const embeddedJson = z.unknown().transform((value) => {
	if (value === '') return undefined;
	if (typeof value !== 'string') return value;
	const parsed = parseServiceJson(value);
	return parsed === undefined ? value : parsed;
});

/** `data` of a task-details answer. Its ID, if it has one, must be the one that was asked for. */
export const rawTaskRecord = z
	.object({
		taskId: z.union([z.string(), z.number().transform(String)]).nullish(),
		state: z.string(),
	})
	.passthrough()
	.describe('task record');

/** The parts of it that make a Task. */
const parts = {
	state: z.string().transform(toMessage),
	model: tolerant(message),
	resultJson: tolerant(embeddedJson),
	response: tolerant(embeddedJson),
	failCode: tolerant(z.union([message, z.number().transform(String)])),
	failMsg: tolerant(message),
	creditsConsumed: tolerant(number),
	createTime: tolerant(number),
	completeTime: tolerant(number),
	param: tolerant(embeddedJson),
	/** Newer records have it in place of `param`, or beside it. */
	paramJson: tolerant(embeddedJson),
};

export const taskRecord = rawTaskRecord.extend(parts).describe('task record');

export type TaskRecord = z.infer<typeof taskRecord>;

/**
 * The body of a callback: the contract has the ID in `data.task_id`, public services have the task's
 * record in `data`. Only the ID is signed, so nothing else must be there.
 */
export const callbackBody = z.object({
	taskId: z.unknown(),
	code: tolerant(integer),
	data: z
		.object({
			task_id: z.unknown(),
			taskId: z.unknown(),
			callbackType: z.unknown(),
			state: z.unknown(),
		})
		.catch({}),
});

export type CallbackBody = z.output<typeof callbackBody>;

/** `data` of an answer about the account: fractional. */
export const credits = number.describe('number of credits');

/** `data` of an upload's answer: services use either name for the file's URL, not `url`. */
export const uploadedFile = z
	.object({ downloadUrl: tolerant(nonEmptyText), fileUrl: tolerant(nonEmptyText) })
	.passthrough()
	.transform(({ downloadUrl, fileUrl, ...file }, context) => {
		const url = downloadUrl ?? fileUrl;
		if (url !== undefined) return { ...{ url }, ...file, url };
		context.addIssue({ code: 'custom', message: 'neither downloadUrl nor fileUrl' });
		return z.NEVER;
	})
	.describe('URL for the file');

export type UploadedFile = z.output<typeof uploadedFile>;

/** An entry of the catalogue. Only the identifier must be there. */
const catalogueModel = z.object({
	model: nonEmptyText,
	title: tolerant(nonEmptyText),
	provider: tolerant(nonEmptyText),
	description: tolerant(nonEmptyText),
	taskType: z.array(nonEmptyText).catch([]),
	pricingDesc: tolerant(nonEmptyText),
});

export type CatalogueModel = z.output<typeof catalogueModel>;

/** `data` of an answer that is a link. */
export const webLink = z.string().refine(isWebUrl).describe('link');

/** `data` of the catalogue. Unreadable entries are left out. */
export const modelList = z
	.object({ models: z.array(tolerant(catalogueModel)) })
	.transform(({ models }) => models.filter((model) => model !== undefined))
	.describe('list of models');

/** `data` of a schema's answer; `openapi` is null for a model that has no schema yet. */
export const modelSchema = z.object({ openapi: z.unknown().optional() }).describe('schema');
