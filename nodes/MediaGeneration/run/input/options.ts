import type { INodeProperties } from 'n8n-workflow';
import { CREATION_RATE } from '../../api/service';
import { modelOptions } from '../../models';
import { readNumberOption, type Field, type OptionReader } from '../../models/field';

export const timeoutOption: INodeProperties = {
	displayName: 'Request Timeout (Seconds)',
	name: 'timeoutSeconds',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 3600 },
	default: 60,
};

/** Makes the field Options. The options are sorted by name, as n8n wants its lists. */
export const optionsField = (options: INodeProperties[]): INodeProperties => ({
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options: options.sort((a, b) => a.displayName.localeCompare(b.displayName)),
});

export const extraFields: Field = {
	displayName: 'Extra Fields (JSON)',
	name: 'extraFields',
	type: 'json',
	default: '{}',
	description: "Merged over the model's input, for what the service takes beyond the fields above",
};

export const maxTasksOption: INodeProperties = {
	displayName: 'Maximum Tasks per Run',
	name: 'maxTasksPerRun',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 100_000, numberPrecision: 0 },
	default: 10,
	description:
		'In one execution, over all loops and calls of an AI agent. If the items exceed it, nothing is created.',
};

export const maxCreditsOption: INodeProperties = {
	displayName: 'Maximum Credits per Run',
	name: 'maxCreditsPerRun',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 1_000_000_000 },
	default: 100,
	description:
		'In one execution, over all loops and calls of an AI agent, one task after the other. Needs a service that says costs while a task runs.',
};

export const keepCreditsOption: INodeProperties = {
	displayName: 'Stop Below This Balance (Credits)',
	name: 'keepCredits',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 1_000_000_000 },
	default: 0,
	description: 'Read once: no task is created unless the account has more credits than this',
};

const rateOption: INodeProperties = {
	displayName: 'Tasks per 10 Seconds',
	name: 'tasksPer10Seconds',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 10_000, numberPrecision: 0 },
	default: 18,
	description: `For this run, and others with its account; 0 sets no limit. Services usually take at most ${CREATION_RATE.most}.`,
};

const concurrencyOption: INodeProperties = {
	displayName: 'Tasks Started at Once',
	name: 'concurrency',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 1_000, numberPrecision: 0 },
	default: 5,
};

/** How many tasks are created within ten seconds, and at once. */
export const readPace = (option: OptionReader) => ({
	perTenSeconds: readNumberOption(option, rateOption),
	atOnce: readNumberOption(option, concurrencyOption),
});

/** Makes the field Options of an operation that creates tasks. @param own options that only it has */
export const creationOptionsField = (own: INodeProperties[] = []): INodeProperties =>
	optionsField([
		maxTasksOption,
		maxCreditsOption,
		keepCreditsOption,
		...own,
		...modelOptions,
		rateOption,
		concurrencyOption,
		timeoutOption,
		extraFields,
	]);
