import { z } from 'zod';

/**
 * Schemas of the service's answers; that of a task's record is in task.ts. They name only the keys that we read and keep
 * unknown ones; the parsed value is what is used. What the contract does not show follows public services of this kind.
 */

export const integer = z.union([
	z.number().int(),
	z
		.string()
		.regex(/^-?\d+$/)
		.transform(Number),
]);

export const number = z.union([
	z.number(),
	z
		.string()
		.trim()
		.regex(/^-?\d+(\.\d+)?$/)
		.transform(Number),
]);

export const nonEmptyText = z.string().min(1);

/** The contract has text; a number is taken too. */
export const taskId = z.union([nonEmptyText, z.number().int().safe().transform(String)]);

/** Ignores a value of another form. */
export const tolerant = <T extends z.ZodTypeAny>(schema: T) => schema.optional().catch(undefined);

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

export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);
