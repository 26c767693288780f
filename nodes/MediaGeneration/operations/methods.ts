import {
	isExpression,
	NodeOperationError,
	type ILoadOptionsFunctions,
	type INodeListSearchResult,
	type INodePropertyOptions,
	type ResourceMapperFields,
	type ResourceMapperValue,
} from 'n8n-workflow';
import { getModelSchema, listModels } from '../api/catalogue';
import { TaskService } from '../api/client';
import { ServiceError } from '../api/errors';
import { CREDENTIAL, type Credentials } from '../api/endpoints';
import type { CatalogueModel } from '../api/schemas';
import { cutText } from '../lib/text';
import { customFields, customModel } from '../models/any/custom';
import {
	buildNotice,
	findStoredSchema,
	listFields,
	listJsonGuide,
	toMapperFields,
} from '../models/any/schemaFields';

/** How many models the editor gets at once. It asks for more when the user scrolls. */
const PAGE = 100;

/** The node works without a catalogue too. */
const WITHOUT_CATALOGUE = "choose the model By ID and set 'Input Mode' to JSON.";

const NOT_FOUND = 404;

/**
 * Lists the service's models that contain each word of the filter. Chat models are left out, because they answer at once and this
 * node can't use them.
 * @throws {NodeOperationError} when there is no list; the editor shows the message instead
 */
export async function searchModels(
	context: ILoadOptionsFunctions,
	filter = '',
	paginationToken = '0',
): Promise<INodeListSearchResult> {
	const models = await listModels(await connect(context)).catch((error: Error) => {
		throw new NodeOperationError(
			context.getNode(),
			isNotFound(error)
				? `This service lists no models: ${WITHOUT_CATALOGUE} If it has a list, set 'Models Path' in the credential.`
				: `${error.message}. To continue without the list, ${WITHOUT_CATALOGUE}`,
		);
	});
	const words = filter.toLowerCase().split(/\s/).filter(Boolean);
	const found = models.filter(
		(model) => !isChat(model) && !hasExpression(model) && contains(model, words),
	);
	const start = Number(paginationToken);
	const end = start + PAGE;
	return {
		results: found.slice(start, end).map((model) => ({
			name: nameModel(model),
			value: model.model,
			description: cutText(
				[model.taskType.join(', '), model.pricingDesc].filter(Boolean).join('\n'),
				SHOWN_DESCRIPTION,
			),
		})),
		...(end < found.length && { paginationToken: String(end) }),
	};
}

const connect = async (context: ILoadOptionsFunctions): Promise<TaskService> =>
	new TaskService(context, await context.getCredentials<Credentials>(CREDENTIAL));

const isNotFound = (error: unknown): boolean =>
	error instanceof ServiceError && error.code === NOT_FOUND;

const isChat = ({ taskType }: CatalogueModel): boolean =>
	taskType.length > 0 && taskType.every((type) => type.toLowerCase() === 'chat');

/** The workflow stores the identifier and name of a chosen model, and n8n would run expressions in them. */
const hasExpression = (model: CatalogueModel): boolean =>
	isExpression(model.model) || isExpression(nameModel(model));

function contains({ model, title, provider, taskType }: CatalogueModel, words: string[]): boolean {
	const text = [model, title, provider, ...taskType].join(' ').toLowerCase();
	return words.every((word) => text.includes(word));
}

/** The longest name that the editor's list shows whole, in characters, its parts, and the longest description. */
const SHOWN_NAME = 52;
const SHOWN_TITLE = 32;
const SHOWN_TYPE = 16;
const SHOWN_DESCRIPTION = 500;
/** A price cut to fewer characters says nothing. */
const LEAST_PRICE = 8;
const BETWEEN = ' · ';

/** Names a model by its title, its price, cut to the room that is left, and its first type if the title doesn't have it. */
function nameModel({ model, title = model, taskType, pricingDesc = '' }: CatalogueModel): string {
	const [first = ''] = taskType.filter((type) => !title.toLowerCase().includes(type.toLowerCase()));
	const name = cutText(title, SHOWN_TITLE);
	const type = cutText(first, SHOWN_TYPE);
	const [price = ''] = pricingDesc.trim().split('\n');
	const room = SHOWN_NAME - [name, '', ...(type ? [type] : [])].join(BETWEEN).length;
	return [name, room < LEAST_PRICE ? '' : cutPrice(price, room), type]
		.filter(Boolean)
		.join(BETWEEN);
}

/**
 * Cuts a price that is too long to its first number of credits. It never cuts within a word, because part of a number is another
 * number.
 */
function cutPrice(price: string, longest: number): string {
	if (price.length <= longest) return price;
	const amount = /\d[\d.,]* credits?\b.*/i.exec(price)?.[0] ?? price;
	return amount.length <= longest
		? amount
		: `${amount.slice(0, longest).replace(/\s*\S*$/, '')}…`.replace(/^…$/, '');
}

/** The longest reason in a notice, in characters. */
const SHOWN_REASON = 200;

const NO_MODEL = 'Choose a model first.';
const MODEL_UNKNOWN = 'An expression gives the model, so its fields are not known here.';

/**
 * Makes the editor's fields of the chosen model. If the catalogue can't be read, the fields that the workflow stores stay. The
 * editor doesn't show errors of this look-up, so each reason is a notice.
 */
export async function getModelFields(
	context: ILoadOptionsFunctions,
): Promise<ResourceMapperFields> {
	const model = readModel(context);
	if (!model) return buildNotice(NO_MODEL);
	if (model.startsWith('=')) return buildNotice(`${MODEL_UNKNOWN} Set 'Input Mode' to JSON.`);
	try {
		return toMapperFields(model, await getModelSchema(await connect(context), model));
	} catch (error) {
		const { schema = [] } = (context.getCurrentNodeParameter(customFields.name) ??
			{}) as Partial<ResourceMapperValue>;
		if (findStoredSchema(schema)?.model === model) return { fields: schema };
		return buildNotice(
			`${describeRefusal(model, error)} To continue without them, set 'Input Mode' to JSON.`,
		);
	}
}

/**
 * Lists the fields of the chosen model for an AI builder. n8n shows it look-ups of this kind, but not those of a resource mapper.
 * @throws {NodeOperationError} when there are none, with the reason
 */
export async function listModelFields(
	context: ILoadOptionsFunctions,
): Promise<INodePropertyOptions[]> {
	const model = readModel(context);
	const found = model
		? await connect(context)
				.then(async (service) => listFields(model, await getModelSchema(service, model)))
				.catch((error: Error) => describeRefusal(model, error))
		: `Give the model as ${customModel.name} in the node's current parameters.`;
	if (typeof found === 'string') throw new NodeOperationError(context.getNode(), found);
	return found;
}

/** Lists the fields of the chosen model beside its JSON. If there are none, the only entry says why. */
export async function guideJson(context: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const model = readModel(context);
	const say = (name: string) => [{ name, value: '' }];
	if (!model) return say(NO_MODEL);
	if (model.startsWith('=')) return say(MODEL_UNKNOWN);
	return await connect(context)
		.then(async (service) => listJsonGuide(model, await getModelSchema(service, model)))
		.catch((error: Error) => say(describeRefusal(model, error)));
}

/** Reads the chosen model. n8n finds a locator's value only with the parameters that show the locator. */
function readModel(context: ILoadOptionsFunctions): string {
	const chosen = context.getCurrentNodeParameter(customModel.name);
	const locator = chosen as { value?: unknown } | string | undefined;
	return String((typeof locator === 'object' ? locator?.value : locator) ?? '').trim();
}

const describeRefusal = (model: string, error: unknown): string =>
	isNotFound(error)
		? `The service lists no fields of a model "${model}". Check its name, or choose it from the list.`
		: `The fields of ${model} can't be loaded: ${cutText((error as Error).message, SHOWN_REASON)}.`;
