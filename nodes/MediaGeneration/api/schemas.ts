import { z } from 'zod';

/**
 * Schemas of everything that crosses the wire. They name only the keys that we read and keep unknown ones; the parsed value is
 * what is used. What the contract does not show follows public services of this kind.
 */

const integer = z.union([
	z.number().int(),
	z
		.string()
		.regex(/^-?\d+$/)
		.transform(Number),
]);

const number = z.union([
	z.number(),
	z
		.string()
		.trim()
		.regex(/^-?\d+(\.\d+)?$/)
		.transform(Number),
]);

const nonEmptyText = z.string().min(1);

/** The contract has text; a number is taken too. */
const taskId = z.union([nonEmptyText, z.number().int().safe().transform(String)]);

/** Ignores a value of another form. */
const tolerant = <T extends z.ZodTypeAny>(schema: T) => schema.optional().catch(undefined);

/** JSON in a string; some services send the object itself. Text that is not JSON stays text. */
const embeddedJson = z.unknown().transform((value) => {
	if (typeof value !== 'string' || value.trim() === '') return value === '' ? undefined : value;
	try {
		return JSON.parse(value) as unknown;
	} catch {
		return value;
	}
});

/** `{ code, msg or message, data }`, around every answer. */
export const envelope = z
	.object({
		code: integer,
		msg: tolerant(z.string()),
		message: tolerant(z.string()),
		data: z.unknown(),
	})
	.passthrough();

/** The part of a createTask answer that makes it a task, whatever else the answer says. */
export const createdTask = z.object({ data: z.object({ taskId }) });

/** `data` of a task-details answer, as the service sends it. */
export const rawTaskRecord = z.object({ taskId, state: z.string() }).passthrough();

/** The parts of it that make a Task. */
export const taskRecord = rawTaskRecord.extend({
	model: tolerant(nonEmptyText),
	resultJson: tolerant(embeddedJson),
	response: tolerant(embeddedJson),
	failCode: tolerant(z.union([nonEmptyText, z.number().transform(String)])),
	failMsg: tolerant(nonEmptyText),
	creditsConsumed: tolerant(number),
	createTime: tolerant(number),
	completeTime: tolerant(number),
});

export type TaskRecord = z.infer<typeof taskRecord>;

/** The links in a parsed `resultJson` or `response`. */
const resultUrls = z.object({
	resultUrls: z.union([z.array(z.string()), z.string().transform((url) => [url])]),
});

/** The newer form of music: an entry for each song, with its file under the first of these keys that it has. */
const songs = z.object({
	data: z.array(
		z.object({ audio_url: tolerant(nonEmptyText), stream_audio_url: tolerant(nonEmptyText) }),
	),
});

/** Lists the links to the files of a parsed result, in whichever form the service sends it. */
export function readResultUrls(result: unknown): string[] {
	const parsed = resultUrls.safeParse(result);
	if (parsed.success) return parsed.data.resultUrls;
	return (songs.safeParse(result).data?.data ?? []).flatMap(
		({ audio_url: audio, stream_audio_url: stream }) => audio ?? stream ?? [],
	);
}

/** `data` of an upload's answer. Services use either name for the file's URL. */
export const uploadedFile = z
	.object({
		downloadUrl: tolerant(nonEmptyText),
		fileUrl: tolerant(nonEmptyText),
		fileName: tolerant(nonEmptyText),
		filePath: tolerant(nonEmptyText),
		fileSize: tolerant(number),
		mimeType: tolerant(nonEmptyText),
		uploadedAt: tolerant(z.union([nonEmptyText, z.number()])),
	})
	.passthrough()
	.transform(({ downloadUrl, fileUrl, ...file }, context) => {
		const url = downloadUrl ?? fileUrl;
		if (url !== undefined) return { url, ...file };
		context.addIssue({ code: 'custom', message: 'neither downloadUrl nor fileUrl' });
		return z.NEVER;
	});

export type UploadedFile = z.output<typeof uploadedFile>;

/** `data` of the answer to a request for a fresh link. */
export const freshLink = nonEmptyText;

/** `data` of a credits answer: the account's credits, fractional. */
export const credits = number;

/** An entry of the catalogue. Services have more keys, or fewer; only the identifier must be there. */
const catalogueModel = z.object({
	model: nonEmptyText,
	title: tolerant(nonEmptyText),
	provider: tolerant(nonEmptyText),
	taskType: z.array(nonEmptyText).catch([]),
	pricingDesc: tolerant(nonEmptyText),
});

export type CatalogueModel = z.output<typeof catalogueModel>;

/** `data` of the catalogue's answer: `{ models }`, or the list itself. Entries that can't be read are left out. */
export const modelList = z.preprocess(
	(data) => (isObject(data) ? data.models : data),
	z
		.array(catalogueModel.optional().catch(undefined))
		.transform((models) => models.filter((model) => model !== undefined)),
);

/** `data` of a schema's answer; `openapi` is null for a model that has no schema yet. */
export const modelSchema = z.object({ openapi: z.unknown() });

/** The `code` of a callback. */
export const callbackCode = integer;

/** The parts of a callback's body, untested. Only `data.task_id` is signed; everything else is a claim. */
export interface CallbackParts {
	taskId: unknown;
	topLevelId: unknown;
	code: unknown;
	callbackType: unknown;
	state: unknown;
}

/**
 * Reads the parts of a callback's body; undefined when the body is not a JSON object. Not by a schema: that took nearly
 * as long as the HMAC, and anyone can send callbacks.
 */
export function readCallbackParts(body: unknown): CallbackParts | undefined {
	if (!isObject(body)) return undefined;
	const { taskId: topLevelId, code, data } = body;
	const { task_id: taskId, callbackType, state } = isObject(data) ? data : {};
	return { taskId, topLevelId, code, callbackType, state };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);
