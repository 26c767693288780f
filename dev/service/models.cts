import { z } from 'zod';
import { findInCatalogue, listSchemaIssues } from './catalogue.cts';
import { dialects, type DialectName } from './dialects.cts';
import { findCost } from './prices.cts';
import type { Result } from './results.cts';
import {
	check,
	httpUrl,
	listIssues,
	nonEmptyText,
	Rejection,
	strictObject,
} from './validation.cts';

interface Model {
	input: z.ZodType<unknown>;
	result: Result;
}

const video: Result = { kind: 'video' };
const image: Result = { kind: 'image' };

const text = z.string();
const integer = z.number().int();
const aspectRatio = text.regex(/^[1-9]\d*:[1-9]\d*$/);
const resolution = text.regex(/^\d+p$/);

const deltaInput = strictObject({
	prompt: text.optional(),
	reference_image: httpUrl.array().min(1),
	resolution: resolution.optional(),
	aspect_ratio: aspectRatio.optional(),
	duration: integer.optional(),
	seed: integer.optional(),
});

/**
 * The inputs of each model, field by field as the contract lists them. The contract doesn't say which fields are
 * mandatory: here the files are, and all else is optional.
 */
const models: Record<string, Model> = {
	'alpha-3.0/motion-control': {
		input: strictObject({
			prompt: text.optional(),
			input_urls: httpUrl.array().length(1),
			video_urls: httpUrl.array().length(1),
			mode: resolution.optional(),
			character_orientation: text.optional(),
		}),
		result: video,
	},
	'beta2/image-edit': {
		input: strictObject({
			prompt: text,
			image_url: httpUrl,
			image_size: aspectRatio.optional(),
			output_format: text.regex(/^[a-z0-9]+$/).optional(),
			seed: integer.optional(),
		}),
		result: image,
	},
	'gamma-v6/reference-to-video': {
		input: strictObject({
			prompt: text.optional(),
			image_references: strictObject({
				image_url: httpUrl,
				type: text.optional(),
				ref_name: text.optional(),
			})
				.array()
				.min(1),
			aspect_ratio: aspectRatio.optional(),
			quality: resolution.optional(),
			duration: integer.optional(),
			generate_audio_switch: z.boolean().optional(),
			seed: integer.optional(),
		}),
		result: video,
	},
	'delta/reference-to-video': { input: deltaInput, result: video },
	'delta-1-1/reference-to-video': { input: deltaInput.omit({ seed: true }), result: video },
};

const creationBody = strictObject({
	model: nonEmptyText,
	callBackUrl: httpUrl.optional(),
	input: z.record(text, z.unknown()),
});

export type Creation = z.infer<typeof creationBody>;

/**
 * Reads the body of a create request to the letter of the contract, or of the catalogue's schema for models that the
 * contract does not have. A model whose name begins with `custom/` takes any input.
 * @returns the creation, its kind of result and, if the list has a price, its cost
 * @throws {Rejection} that names the field at fault, in the dialect's words
 */
export function readCreation(
	body: unknown,
	dialect: DialectName,
): { creation: Creation; result: Result; cost?: number } {
	const creation = check(creationBody, body);
	const model = Object.hasOwn(models, creation.model) ? models[creation.model] : undefined;
	const definition = model ?? findInCatalogue(creation.model);
	if (!definition && creation.model.startsWith('custom/')) return { creation, result: video };
	if (!definition) throw new Rejection(422, `model "${creation.model}" is not known`);
	const issues =
		'input' in definition
			? listIssues(definition.input, creation.input, ['input'])
			: listSchemaIssues(creation, definition);
	const rejection = dialects[dialect].rejectInput(issues);
	if (rejection) throw rejection;
	const cost = 'price' in definition ? findCost(definition.price ?? [], creation.input) : undefined;
	return { creation, result: definition.result ?? video, cost };
}
