import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { Creation } from './models.cts';
import type { Price } from './prices.cts';
import type { Result } from './results.cts';
import { Rejection, type Issue } from './validation.cts';

interface CatalogueModel {
	/** The model's entry in the list. */
	entry: { model: string; title: string; [more: string]: unknown };
	/** The prices of a task, as the list has them. */
	price?: Price[];
	/** The kind of result; a video by default. */
	result?: Result;
	/** The model's document. A text is a malformed document. */
	openapi: Record<string, unknown> | string | null;
}

/** The path of a creation, also in the document of a model. */
export const TASK_PATH = '/api/v1/jobs/createTask';
const TASK_BODY =
	'#/paths/~1api~1v1~1jobs~1createTask/post/requestBody/content/application~1json/schema';

/** Builds the part of a document about a request with this body. */
export const buildPost = (schema: object) => ({
	post: { requestBody: { content: { 'application/json': { schema } } } },
});

/** Builds the document of a model with this input, and more in it that its schemas refer to. */
export const buildDocument = (input: unknown, more: object = {}) => ({
	...more,
	paths: { [TASK_PATH]: buildPost({ properties: { input } }) },
});

const folder = join(__dirname, 'catalogue');

export const corpus = readdirSync(folder).flatMap(
	(file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as CatalogueModel[],
);

export const findInCatalogue = (name: string) => corpus.find(({ entry }) => entry.model === name);

const ajv = new Ajv2020({ strict: false, allErrors: true, multipleOfPrecision: 9 });
addFormats(ajv);
const validators = new Map<string, ValidateFunction>();

/** Some documents have spaces behind the names of fields. Callers send the names without these spaces. */
const trimNames = (openapi: object) =>
	JSON.parse(JSON.stringify(openapi), (key, value: unknown) => {
		if (key === 'required' && Array.isArray(value)) return value.map((name) => String(name).trim());
		if (key !== 'properties' || typeof value !== 'object' || value === null) return value;
		return Object.fromEntries(Object.entries(value).map(([name, one]) => [name.trim(), one]));
	}) as object;

/** Compiles the schema of the body that creates a task. References stay inside the document. */
export function compileBody(name: string, openapi: object) {
	const validate = validators.get(name) ?? ajv.compile({ ...trimNames(openapi), $ref: TASK_BODY });
	validators.set(name, validate);
	return validate;
}

/** What is wrong with a field that breaks a keyword of its schema. */
const KINDS: Record<string, Issue['kind']> = {
	required: 'missing',
	enum: 'notAllowed',
	additionalProperties: 'unknown',
};

/**
 * Lists what is wrong with the input of a task, by the schema of its model. The body
 * around the input isn't checked. A model whose schema is missing or malformed takes any input.
 * @throws {Rejection} 422 when the model creates no tasks
 */
export function listSchemaIssues(creation: Creation, { openapi }: CatalogueModel): Issue[] {
	if (openapi === null || typeof openapi === 'string') return [];
	if (!(TASK_PATH in Object(openapi.paths)))
		throw new Rejection(422, `model "${creation.model}" is not created by ${TASK_PATH}`);
	const validate = compileBody(creation.model, openapi);
	if (validate(creation)) return [];
	return (validate.errors ?? [])
		.filter(({ instancePath }) => instancePath.startsWith('/input'))
		.map(({ keyword, instancePath, params, message }) => ({
			name: String(params.missingProperty ?? instancePath.split('/').at(-1)),
			kind: KINDS[keyword] ?? 'other',
			text: `${instancePath} ${message}`,
		}));
}
