import { z } from 'zod';
import { isDeeper, parseJson } from '../lib/json';
import { cutText } from '../lib/text';
import { decodePart, readWebUrl } from '../lib/url';
import { type Endpoint, TASK_ID } from './service';

/**
 * Schemas of the service's answers and callbacks. They list only the keys that are read; `describe`
 * names what is missing in an answer that doesn't fit. Where the contract says nothing, they follow
 * public services of this kind.
 */

/** The deepest nesting of foreign JSON, because n8n stores items recursively. */
export const MOST_LEVELS = 64;

/** Parses JSON without rounding long task IDs; undefined if the text isn't JSON or is nested too deep. */
export function parseServiceJson(text: string): unknown {
	const value = parseJson(text.replace(/("taskId"\s*:\s*)(\d+)(?=\s*[,}])/g, '$1"$2"'));
	return isDeeper(value, MOST_LEVELS) ? undefined : value;
}

/** A number, or a number as text. JSON allows numbers that become Infinity, such as `1e999`. */
export const number = z
	.union([
		z.number(),
		z
			.string()
			.trim()
			.regex(/^-?\d+(\.\d+)?$/)
			.transform(Number),
	])
	.refine(Number.isFinite);

export const integer = number.refine(Number.isInteger);

export const nonEmptyText = z.string().min(1);

/** A task's ID: by the contract a text, but a number is accepted too. */
export const taskId = z.union([
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
export const message = z
	.string()
	.transform(toMessage)
	.refine((text) => text !== '');

/** Makes a value optional, and ignores values of another type. */
const tolerant = <T extends z.ZodTypeAny>(schema: T) => schema.optional().catch(undefined);

/** The envelope `{ code, msg or message, data }` of every answer, without its data. */
export const envelope = z
	.object({ code: integer, msg: tolerant(message), message: tolerant(message) })
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
	model: tolerant(message),
	resultJson: tolerant(embeddedJson),
	response: tolerant(embeddedJson),
	failCode: tolerant(z.union([message, z.number().transform(String)])),
	failMsg: tolerant(message),
	creditsConsumed: tolerant(number),
	createTime: tolerant(number),
	completeTime: tolerant(number),
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
	code: tolerant(integer),
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
	createTaskPath: z.object({ taskId }).describe('task ID'),
	taskDetailsPath: rawTaskRecord,
	creditsPath: number.describe('number of credits'),
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

const MASK = '***';

/** Short secrets, and numbers. They are hidden in messages only, because data may have the same by chance. */
const TOO_COMMON = /^(.{0,7}|\d{1,21})$/s;

/** So many characters of a secret are searched for. V8 takes quadratic time to find longer ones. */
const LONGEST_SEARCH = 500;

/**
 * Finds a callback URL in JSON text by the key under which services repeat the URL. In JSON text within
 * JSON text, blanks are escaped, and the URL ends at the first quote, escaped or not. In plain JSON text,
 * an escaped quote is a part of the URL. At most 99 are matched: without a bound, V8's stack overflows.
 */
const CALLBACK_IN_JSON =
	/(call_?back_?url\\*"[\s\\nrt]*:[\s\\nrt]*")((?<!\\")[^"]*(?:(?<=[^\\]\\)"[^"]*){0,99}|[^"]*)/gi;

/** Lists the secrets in a URL of this n8n: the password, encoded and decoded, and the query. */
export function listUrlSecrets(url: string): Array<string | undefined> {
	const [, password, query] = /^\w+:\/\/(?:[^/?#:]*:([^/?#]*)@)?[^?#]*(\?[^#]*)?/.exec(url) ?? [];
	return [password, password && decodePart(password), query];
}

/** Hides login and query of a URL. The backslashes at its end stay, because they escape a quote. */
const hideUrlSecrets = (url: string): string =>
	url.replace(/^(\w+:[\\/]*\/)[^/?#]*@/, `$1${MASK}@`).replace(/\?.*[^\\](?=\\*$)/s, `?${MASK}`);

const toJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Lists the ways to write a secret: plain, in JSON, also within JSON text, and percent-encoded. */
function listWritings(secret: string): string[] {
	// Lone surrogates can't be encoded.
	const encoded = encodeURIComponent(secret.replace(/\p{Cs}/gu, '\ufffd'));
	return [secret, toJson(secret), toJson(toJson(secret)), encoded];
}

/** Hides a secret as it is written in one way. Of a long secret that is cut, hides what is there. */
function hideWriting(text: string, writing: string): string {
	const rest = writing.slice(LONGEST_SEARCH);
	const [before = '', ...behind] = text.split(writing.slice(0, LONGEST_SEARCH));
	const shown = behind.map((part) => {
		let end = 0;
		while (end < rest.length && part[end] === rest[end]) end++;
		return part.slice(end);
	});
	return [before, ...shown].join(MASK);
}

/**
 * Hides secrets in what a service says, because an honest service may repeat any part of a request.
 * Known secrets are found literally, callback URLs by their key. A secret that a service disguises on
 * purpose isn't found.
 */
export function hideInMessage(text: string, secrets: Iterable<string>): string {
	const writings = [...secrets].flatMap(listWritings);
	// The longest first, because a secret may begin with another.
	writings.sort((one, other) => other.length - one.length);
	const hideCallback = (_: string, key: string, url: string) => key + hideUrlSecrets(url);
	return writings.reduce(hideWriting, text.replace(CALLBACK_IN_JSON, hideCallback));
}

/** Hides secrets in a JSON value, like `hideInMessage`. */
export function hideInData(value: unknown, secrets: Iterable<string>): unknown {
	const rare = [...secrets].filter((secret) => !TOO_COMMON.test(secret));
	return parseJson(hideInMessage(JSON.stringify(value) ?? '', rare));
}
