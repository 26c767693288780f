import { updateDisplayOptions, type INodeProperties } from 'n8n-workflow';
import { alpha3MotionControl } from './alpha3MotionControl';
import { anyModelFields, inputModesOption } from './any/fields';
import { beta2ImageEdit } from './beta2ImageEdit';
import { delta11ReferenceToVideo, deltaReferenceToVideo } from './deltaReferenceToVideo';
import { toBuilderHint, toNodeProperty, type Field, type Model } from './field';
import { gammaV6ReferenceToVideo } from './gammaV6ReferenceToVideo';
import { addFacts } from './words';

/** Every model in the editor's list. */
export const models: Model[] = [
	// The first and the default: a real service has models of its own.
	{
		id: 'any',
		name: 'Any Model of Your Service',
		description: 'Image to video, text to image, text to video, speech, music and more',
		fields: anyModelFields,
	},
	// A file for each. They are sorted by name, as n8n's linter asks of lists.
	alpha3MotionControl,
	beta2ImageEdit,
	delta11ReferenceToVideo,
	deltaReferenceToVideo,
	gammaV6ReferenceToVideo,
];

/**
 * Describes what each model takes, one line per model, for AI builders. The types that n8n makes for
 * builders have only the first of several properties with the same name, and lack one named `mode`.
 */
const describeModels = (): string =>
	[
		'Each model takes the parameters in its line and no others. Set them beside model, also where a type below lacks them.',
		...models.map(({ id, description, fields }) => {
			const taken = fields.filter(({ type }) => type !== 'hidden').map(describeParameter);
			return `${id}: ${description}. Parameters: ${[...new Set(taken)].join(', ')}`;
		}),
	].join('\n');

function describeParameter({ name, required, options = [] }: Field): string {
	const values = options.flatMap((option) => ('value' in option ? `'${option.value}'` : []));
	return addFacts(name, [required && 'required', values.join(' | ')].filter(Boolean).join(', '));
}

/** The list of models and the fields of each, for every operation that creates a task. */
export const modelFields: INodeProperties[] = [
	{
		displayName: 'Create With',
		name: 'model',
		type: 'options',
		noDataExpression: true,
		options: models.map(({ id, name, description }) => ({ name, value: id, description })),
		default: 'any',
		description:
			'Any model that your service lists, or one that the documented interface has, which your service may lack',
		builderHint: toBuilderHint(describeModels()),
	},
	...models.flatMap(({ id, fields }) =>
		updateDisplayOptions({ show: { model: [id] } }, fields.map(toNodeProperty)),
	),
];

/** In Options, for models with their own fields. */
export const modelIdOption: INodeProperties = {
	displayName: 'Model ID',
	name: 'modelId',
	type: 'string',
	default: '',
	placeholder: 'e.g. brand-3.0/motion-control',
	description:
		"The model's identifier at your service, sent in place of the usual one. Fields and file checks stay those of the chosen model.",
	displayOptions: { hide: { '/model': ['any'] } },
};

/** In Options of every operation that creates a task. */
export const modelOptions = [modelIdOption, inputModesOption];
