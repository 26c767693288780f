import { z } from 'zod';
import { isDeeper, parseJson } from '../lib/json';
import { cutText } from '../lib/text';
import { readWebUrl } from '../lib/url';
import { type Endpoint, TASK_ID } from './service';

/**
 * Schemas of the service's answers and callbacks. They list only the keys that are read; `describe`
 * names what is missing in an answer that doesn't fit. Where the contract says nothing, they follow
 * public services of this kind.
 */

/** The deepest nesting of foreign JSON, because n8n stores items recursively. */
export const MOST_JSON_LEVELS = 64;

/** Parses JSON without rounding long task IDs; undefined if the text isn't JSON or is nested too deep. */
export function parseServiceJson(text: string): unknown {
	const value = parseJson(text.replace(/("taskId"\s*:\s*)(\d+)(?=\s*[,}])/g, '$1"$2"'));
	return isDeeper(value, MOST_JSON_LEVELS) ? undefined : value;
}

/** A number, or a number as text. JSON allows numbers that become Infinity, such as `1e999`. */
export const numberSchema = z
	.union([
		z.number(),
		z
			.string()
			.trim()
			.regex(/^-?\d+(\.\d+)?$/)
			.transform(Number),
	])
	.refine(Number.isFinite);

export const integerSchema = numberSchema.refine(Number.isInteger);

export const nonEmptyText = z.string().min(1);

/** A task's ID: by the contract a text, but a number is accepted too. */
export const taskIdSchema = z.union([
	z.string().regex(TASK_ID),
	z.number().int().safe().transform(String),
]);

/** Characters that break a line, or change the direction of what follows, in logs and the editor. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]+/gu;

/** How much of a message of the service is shown, in characters. */
const LONGEST_MESSAGE = 500;

/** Makes a message of one line, cut to a readable length. */
export function toMessage(text: string): string {
	return cutText(text.replace(CONTROL_CHARACTERS, ' ').trim(), LONGEST_MESSAGE);
}

/** Quotes a value in a message. */
export const toQuote = (value: unknown): string => toMessage(JSON.stringify(value));

/** A non-blank message. */
export const messageSchema = z
	.string()
	.transform(toMessage)
	.refine((text) => text !== '');

/** Makes a value optional, and ignores values of another type. */
const tolerant = <T extends z.ZodTypeAny>(schema: T) => schema.optional().catch(undefined);

/** The envelope `{ code, msg or message, data }` of every answer, without its data. */
export const envelope = z
	.object({ code: integerSchema, msg: tolerant(messageSchema), message: tolerant(messageSchema) })
	.transform(({ code, msg, message: other }) => ({ code, text: msg ?? other }));

/** JSON as text. Some services send an object instead. Text that isn't JSON stays text. */
export const embeddedJson = z.unknown().transform((value) => {
	if (value === '') return undefined;
	if (typeof value !== 'string') return value;
	const parsed = parseServiceJson(value);
	return parsed === undefined ? value : parsed;
});

/** `data` of task details, with all its keys. */
const rawTaskRecord = z
	.object({
		taskId: z.union([z.string(), z.number().transform(String)]).nullish(),
		state: z.string(),
	})
	.passthrough()
	.describe('task record');

/** The parts of a task record that make a Task. */
export const taskRecord = rawTaskRecord.extend({
	state: z.string().transform(toMessage),
	model: tolerant(messageSchema),
	resultJson: tolerant(embeddedJson),
	response: tolerant(embeddedJson),
	failCode: tolerant(z.union([messageSchema, z.number().transform(String)])),
	failMsg: tolerant(messageSchema),
	creditsConsumed: tolerant(numberSchema),
	createTime: tolerant(numberSchema),
	completeTime: tolerant(numberSchema),
	param: tolerant(embeddedJson),
	/** In newer records, in place of `param` or beside it. */
	paramJson: tolerant(embeddedJson),
});

export type TaskRecord = z.infer<typeof taskRecord>;

/**
 * The body of a callback. By the contract, the ID is in `data.task_id`. Public services send the task's
 * record: most of them in `data`, one as the body. Only the ID is needed, so all else is optional.
 */
export const callbackBody = z.object({
	taskId: z.unknown().optional(),
	state: z.unknown().optional(),
	code: tolerant(integerSchema),
	data: z.record(z.unknown()).catch({}),
});

export type CallbackBody = z.output<typeof callbackBody>;

/** `data` of an upload. The file's URL has one of two names. */
const uploadedFile = z
	.object({ downloadUrl: tolerant(nonEmptyText), fileUrl: tolerant(nonEmptyText) })
	.passthrough()
	.transform(({ downloadUrl, fileUrl, ...file }) => ({ ...file, url: downloadUrl ?? fileUrl }))
	.pipe(z.object({ url: z.string() }).passthrough())
	.describe('URL for the file');

export type UploadedFile = z.output<typeof uploadedFile>;

/** A model in the list of models. Only the identifier is required. */
const catalogueModel = z.object({
	model: nonEmptyText,
	title: tolerant(nonEmptyText),
	provider: tolerant(nonEmptyText),
	description: tolerant(nonEmptyText),
	taskType: z.array(nonEmptyText).catch([]),
	pricingDesc: tolerant(nonEmptyText),
});

export type CatalogueModel = z.output<typeof catalogueModel>;

/** `data` of a download URL. */
const webLink = z.string().transform(readWebUrl).pipe(z.string()).describe('link');

/** `data` of the list of models. Unreadable models are skipped. */
const modelList = z
	.object({ models: z.array(tolerant(catalogueModel)) })
	.transform(({ models }) => models.filter((model) => model !== undefined))
	.describe('list of models');

/** The schema of `data` in the answers of each endpoint. */
export const ANSWERS = {
	/** If the answer has an ID, the task exists, whatever else the answer says. */
	createTaskPath: z.object({ taskId: taskIdSchema }).describe('task ID'),
	taskDetailsPath: rawTaskRecord,
	creditsPath: numberSchema.describe('number of credits'),
	streamUploadPath: uploadedFile,
	urlUploadPath: uploadedFile,
	modelsPath: modelList,
	/** `openapi` is null if the model has none yet. */
	modelSchemaPath: z
		.object({ openapi: z.unknown().optional() })
		.transform(({ openapi }) => openapi)
		.describe('schema'),
	downloadUrlPath: webLink,
} satisfies Record<Endpoint, z.ZodTypeAny>;

export type AnswerOf<E extends Endpoint> = z.output<(typeof ANSWERS)[E]>;
