import type { INodeProperties } from 'n8n-workflow';
import { alpha3MotionControl } from './alpha3MotionControl';
import { anyModelFields, inputModesOption } from './any/fields';
import { beta2ImageEdit } from './beta2ImageEdit';
import { describeModels, listModelProperties, toBuilderHint } from './builders';
import { delta11ReferenceToVideo, deltaReferenceToVideo } from './deltaReferenceToVideo';
import { gammaV6ReferenceToVideo } from './gammaV6ReferenceToVideo';
import { defineModel, modelIdOption } from './model';

const anyModelDefinition = defineModel({
	id: 'any',
	name: 'All Models of Your Service',
	description: 'Image to video, text to image, text to video, speech, music and more',
	fields: anyModelFields,
});

const named = [
	// Each has a file of its own. The list is sorted below.
	alpha3MotionControl,
	beta2ImageEdit,
	delta11ReferenceToVideo,
	deltaReferenceToVideo,
	gammaV6ReferenceToVideo,
];

/**
 * Every model in the editor's list. The entry for all others is first and the default, because a
 * real service has its own identifiers. The rest is sorted by name, as n8n wants its lists.
 */
export const models = [
	anyModelDefinition,
	...named.sort((one, other) => one.name.localeCompare(other.name)),
];

/** The list of models and the fields of each, for every operation that creates a task. */
export const modelFields: INodeProperties[] = [
	{
		displayName: 'Choose From',
		name: 'model',
		type: 'options',
		noDataExpression: true,
		options: models.map(({ id, name, description }) => ({ name, value: id, description })),
		default: 'any',
		description:
			'All models of your service, of which you then choose one, or a model that has its fields here',
		builderHint: toBuilderHint(describeModels(models)),
	},
	...listModelProperties(models),
];

/** Entries of Options of every operation that creates a task. */
export const modelOptions = [modelIdOption, inputModesOption];
