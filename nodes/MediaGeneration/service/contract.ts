import { z } from 'zod';

/**
 * Schemas of all that crosses the wire. Only the keys that we read are named, unknown ones are kept, and
 * the parsed value is what is used. What the contract does not show follows public services of this kind.
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

/** A key that is taken where it has the right form and ignored otherwise. */
const tolerant = <T extends z.ZodTypeAny>(schema: T) => schema.optional().catch(undefined);

/** JSON that a record carries as a string; some services give it as an object. Text that is no JSON stays text. */
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

/** `data` of a createTask answer. */
export const createdTask = z.object({ taskId: nonEmptyText }).passthrough();

/** `data` of a task-details answer: the task record, as the service gives it. */
export const rawTaskRecord = z.object({ taskId: nonEmptyText, state: z.string() }).passthrough();

/** The same, read. */
export const taskRecord = rawTaskRecord.extend({
	model: tolerant(nonEmptyText),
	resultJson: tolerant(embeddedJson),
	failCode: tolerant(z.union([nonEmptyText, z.number().transform(String)])),
	failMsg: tolerant(nonEmptyText),
	creditsConsumed: tolerant(number),
	createTime: tolerant(number),
	completeTime: tolerant(number),
});

export type TaskRecord = z.infer<typeof taskRecord>;

/** The parts of a parsed `resultJson` that have a name of their own in a Task. */
export const taskResult = z
	.object({
		resultUrls: z.union([z.array(z.string()), z.string().transform((url) => [url])]),
	})
	.passthrough();

/** `data` of an upload's answer; services call the file's URL by either name. */
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

/** `data` of a credits answer: the account's credits, fractional. */
export const credits = number;

/** The `code` of a callback, by which it may claim that its task failed. */
export const claimedCode = integer;

/** What is read of a callback's body, whatever it is. Only `data.task_id` is signed, all else is a claim. */
export interface CallbackParts {
	taskId: unknown;
	topLevelId: unknown;
	code: unknown;
	callbackType: unknown;
	state: unknown;
}

/**
 * The parts of a callback's body, each to be tested where it is used; undefined when the body is no JSON object. Not by a
 * schema, which took nearly as long as the HMAC: anyone can send callbacks.
 */
export function callbackParts(body: unknown): CallbackParts | undefined {
	if (!isObject(body)) return undefined;
	const { taskId: topLevelId, code, data } = body;
	const { task_id: taskId, callbackType, state } = isObject(data) ? data : {};
	return { taskId, topLevelId, code, callbackType, state };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);
