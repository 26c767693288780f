import type { INodeProperties } from 'n8n-workflow';
import { CREATION_RATE, CREATION_TIMEOUT } from '../api/service';
import { isResumeUrl } from '../host/resumeUrl';
import { modelFields, modelOptions, models } from '../models';
import {
	buildFieldError,
	parseValue,
	readNumberOption,
	type Field,
	type OptionReader,
} from '../models/field';
import { toJsonInput } from '../models/jsonInput';
import { keepCreditsOption, maxTasksOption } from './budget';
import { expandLists, findBinary, findFiles } from './inputFile';
import { optionsField, timeoutOption, type CreateRequest, type Item } from './item';

const extraFields: Field = {
	displayName: 'Extra Fields (JSON)',
	name: 'extraFields',
	type: 'json',
	default: '{}',
	description:
		"A JSON object that is merged over the model's input, for what the service takes beyond the fields above",
};

const rateOption: INodeProperties = {
	displayName: 'Tasks per 10 Seconds',
	name: 'tasksPer10Seconds',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 10_000, numberPrecision: 0 },
	default: 18,
	description: `How many tasks this run creates within ten seconds at most; 0 sets no limit. All runs with the same account in one n8n process count together. Services of this kind usually refuse more than ${CREATION_RATE.most}.`,
};

const concurrencyOption: INodeProperties = {
	displayName: 'Tasks Started at Once',
	name: 'concurrency',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 1_000, numberPrecision: 0 },
	default: 5,
	description: 'How many tasks are created at the same time',
};

const TIMEOUT_DESCRIPTION = `${timeoutOption.description}. To create a task, it has at least ${CREATION_TIMEOUT} seconds: if the node gave up, nobody would know whether there is a task.`;

/** How many tasks are created within ten seconds, and at once. */
export const readPace = (option: OptionReader) => ({
	perTenSeconds: readNumberOption(option, rateOption),
	atOnce: readNumberOption(option, concurrencyOption),
});

/** Builds Options of an operation that creates tasks. @param own entries that only it has */
export const buildOptionsField = (own: INodeProperties[] = []): INodeProperties =>
	optionsField([
		maxTasksOption,
		keepCreditsOption,
		...own,
		...modelOptions,
		rateOption,
		concurrencyOption,
		{ ...timeoutOption, description: TIMEOUT_DESCRIPTION },
		extraFields,
	]);

const DELETE_WAIT =
	"Generate waits by itself, so the callBackUrl in Input (JSON) isn't used. Delete the Wait node behind it, which would wait for ever.";

/**
 * Turns an item into a request.
 * @param chooseCallbackUrl gets the callback URL of a pasted body; by default there is none
 * @throws {UserError} when a field or file can't be sent
 */
export async function prepareRequest(
	item: Item,
	chooseCallbackUrl?: (pasted: unknown) => string | undefined,
): Promise<CreateRequest> {
	const { read, option, service } = item;
	const { context } = item.call;
	const { refuseFixedExpressions } = await import('./fixedText');
	refuseFixedExpressions(context.getNode().parameters, [...modelFields, extraFields]);
	let isUndescribed: boolean | undefined;
	const request = await findModel(read('model')).request({
		read,
		option,
		hasFile: (name) => findBinary(item, name) !== undefined,
		// A tool's item has what the agent's model writes, and what others wrote to the agent.
		columns: item.call.isTool ? undefined : context.getInputData()[item.index]?.json,
		describe: async (name) => {
			const { findModelSchema } = await import('../api/catalogue');
			const document = await findModelSchema(service, name);
			isUndescribed = document === undefined || undefined;
			return document;
		},
	});
	const extra = parseValue(extraFields, option(extraFields.name));
	const given = toJsonInput({ ...request.input, ...(extra as object | undefined) });
	const input = await expandLists(item, given);
	request.check?.(input);
	const waitsForIt = !chooseCallbackUrl && isResumeUrl(context, request.callBackUrl);
	const warnings = [waitsForIt && DELETE_WAIT, request.warning];
	return {
		model: request.model,
		input: await findFiles(item, input),
		callBackUrl: chooseCallbackUrl?.(request.callBackUrl),
		warning: warnings.filter(Boolean).join(' ') || undefined,
		isUndescribed,
	};
}

function findModel(id: unknown): (typeof models)[number] {
	const model = models.find((candidate) => candidate.id === id);
	if (model) return model;
	throw buildFieldError(
		`This node has no model "${String(id)}"`,
		'Choose a model from the list. For any other one choose All Models of Your Service.',
	);
}
