import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type DefinedError, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { z } from 'zod';
import type { TaskOrder } from './models.cts';
import { resultShape } from './results.cts';
import { anyObject, formatPath, list, nonEmptyText, Refusal, strictObject } from './validation.cts';

const catalogueModel = strictObject({
	/** As the list has it. */
	entry: strictObject({
		model: nonEmptyText,
		slug: nonEmptyText,
		title: nonEmptyText,
		provider: nonEmptyText,
		taskType: list(nonEmptyText),
		description: nonEmptyText.nullable(),
		pricingDesc: nonEmptyText.nullable(),
	}),
	result: resultShape.default({}),
	/** An object is a document; a text is a malformed one. */
	openapi: z.union([anyObject, nonEmptyText]).nullable(),
});

export type CatalogueModel = z.infer<typeof catalogueModel>;

const TASK_PATH = '/api/v1/jobs/createTask';
const TASK_BODY =
	'#/paths/~1api~1v1~1jobs~1createTask/post/requestBody/content/application~1json/schema';

const folder = join(__dirname, 'catalogue');

export const corpus = readdirSync(folder).flatMap((file) =>
	list(catalogueModel).parse(JSON.parse(readFileSync(join(folder, file), 'utf8'))),
);
const byName = new Map(corpus.map((model) => [model.entry.model, model]));

/** Copies a model of the corpus under a name of its own. */
function generateModel(index: number) {
	const template = corpus[index % corpus.length];
	if (!template) throw new Error('The corpus is empty');
	const { entry, openapi } = template;
	const model = `generated-${index}/${entry.slug}`;
	const title = `${entry.title} ${index}`;
	return {
		...template,
		entry: { ...entry, model, title, slug: model.replace('/', '-') },
		get openapi() {
			const json = JSON.stringify(openapi).replaceAll(`"${entry.model}"`, `"${model}"`);
			return catalogueModel.shape.openapi.parse(JSON.parse(json));
		},
	};
}

/** The entries of the list: the corpus, and so many generated models. */
export const listEntries = (generated: number) => [
	...corpus.map(({ entry }) => entry),
	...Array.from({ length: generated }, (_, index) => generateModel(index).entry),
];

/** Finds a model of the catalogue. Generated ones are known whether the list has them or not. */
export function findInCatalogue(name: string): CatalogueModel | undefined {
	const index = /^generated-(\d+)\//.exec(name)?.[1];
	if (index === undefined) return byName.get(name);
	const model = generateModel(Number(index));
	return model.entry.model === name ? model : undefined;
}

export const isTaskDocument = (openapi: CatalogueModel['openapi']) =>
	openapi !== null && typeof openapi === 'object' && TASK_PATH in Object(openapi.paths);

const ajv = new Ajv2020({ strict: false, allErrors: true, multipleOfPrecision: 9 });
addFormats(ajv);
const validators = new Map<string, ValidateFunction>();

/** Compiles the schema of the body that creates a task. References stay inside the document. */
export function compileBody(name: string, openapi: object) {
	const validate = validators.get(name) ?? ajv.compile({ ...openapi, $ref: TASK_BODY });
	validators.set(name, validate);
	return validate;
}

function formatError({ instancePath, keyword, params, message }: DefinedError) {
	const path = instancePath
		.split('/')
		.slice(1)
		.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
		.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
	if (keyword === 'required') return `${formatPath([...path, params.missingProperty])} is required`;
	if (keyword === 'additionalProperties')
		return `${formatPath([...path, params.additionalProperty])} is not known`;
	if (keyword === 'enum')
		return `${formatPath(path)} must be one of ${JSON.stringify(params.allowedValues)}`;
	return `${formatPath(path)} ${message}`;
}

/**
 * Holds a task to the schema of its model. A model whose schema is missing or malformed takes any input.
 *
 * @throws {Refusal} 422 that names the fields at fault
 */
export function checkBySchema(order: TaskOrder, { openapi }: CatalogueModel) {
	if (openapi === null || typeof openapi === 'string') return;
	if (!isTaskDocument(openapi))
		throw new Refusal(422, `model "${order.model}" is not created by ${TASK_PATH}`);
	const validate = compileBody(order.model, openapi);
	if (validate(order)) return;
	const problems = (validate.errors as DefinedError[]).map(formatError);
	throw new Refusal(422, [...new Set(problems)].join('; '));
}
