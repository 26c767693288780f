import {
	isExpression,
	NodeOperationError,
	type ILoadOptionsFunctions,
	type ResourceMapperValue,
} from 'n8n-workflow';
import { findModels, readModelDocument, recallModel } from '../api/catalogue';
import { TaskService } from '../api/client';
import type { Credentials } from '../api/credential';
import { isOfKind } from '../api/failure';
import type { CatalogueModel } from '../api/answers';
import { readForEditor } from '../host/credentialAccess';
import { isObject } from '../lib/json';
import { cutText } from '../lib/text';
import { anyFields, anyModel } from '../models/any/fields';
import { buildNotice, findStoredSchema, listHelp, toMapperFields } from '../models/any/views';
import { findInput, type FoundInput } from '../models/readSchema';

/** What to do where the service lists no models. */
const WITHOUT_LIST =
	"To go on without the list, set 'Input Mode' to JSON, and choose the model By ID. If the service has a list, set 'Models Path' in the credential.";

/**
 * Lists the service's models that contain each word of the filter.
 * @throws {NodeOperationError} when there is no list; the editor shows the message instead
 */
export async function searchModels(context: ILoadOptionsFunctions, filter = '') {
	const find = async () => await findModels(await connect(context), filter);
	const models = await find().catch((error: Error) => {
		throw new NodeOperationError(
			context.getNode(),
			`${error.message}. ${findTokenRemedy(error) ?? WITHOUT_LIST}`,
		);
	});
	const results = models
		.map(toResult)
		// The workflow stores name and value of a chosen model, and n8n would run expressions in them.
		.filter(({ name, value }) => !isExpression(name) && !isExpression(value));
	return { results };
}

/** What to do about a token that the service rejects: without a valid token, no other remedy helps. */
const findTokenRemedy = (error: unknown): string | undefined =>
	isOfKind(error, 'token') ? error.description : undefined;

async function connect(context: ILoadOptionsFunctions): Promise<TaskService> {
	return new TaskService(context, await readForEditor<Credentials>(context));
}

/** How many characters of title and price the box of the chosen model shows when the panel opens. */
const LONGEST_BOX_TEXT = 35;

/**
 * Makes a result of a model. The name has the model's title and price, and its first type if the title
 * lacks that. The price is the first line of the description of prices, without emoji. If the box has no
 * room for the line, the price is the first amount in the line.
 */
function toResult({ model, title = model, taskType, pricingDesc = '' }: CatalogueModel) {
	const type = taskType.find((one) => !title.toLowerCase().includes(one.toLowerCase()));
	const plain = pricingDesc.replace(/\p{Extended_Pictographic}\ufe0f? ?/gu, '').trim();
	const line = (plain.split('\n')[0] ?? '').trimEnd();
	const isLong = title.length + line.length > LONGEST_BOX_TEXT;
	const [amount] = /(?<![\d.,])[\d.,]+ credits?\b/.exec(line) ?? [];
	const price = isLong && amount ? `${amount}…` : line;
	const name = [title, price, type].filter(Boolean).join(' · ');
	const description = [taskType.join(', '), pricingDesc].filter(Boolean).join('\n');
	return {
		name: cutText(name),
		value: model,
		description: cutText(description, 500),
	};
}

/**
 * Makes the editor's fields of the chosen model. If the service can't say which they are, the fields that
 * the workflow stores stay. The editor doesn't show errors of this method, so each reason is a notice.
 */
export async function getModelFields(context: ILoadOptionsFunctions) {
	const model = readModel(context);
	const input = await findChosenInput(context);
	const { schema = [], value } = (context.getCurrentNodeParameter(anyFields.name) ??
		{}) as Partial<ResourceMapperValue>;
	const filled = Object.keys(value ?? {});
	if ('schema' in input) return toMapperFields(model, input.schema, filled);
	return findStoredSchema(schema)?.model === model
		? { fields: schema }
		: buildNotice(input.reason, input.remedy);
}

/**
 * Lists the names of the chosen model's fields, with what they take. Without fields, the only choice says
 * why: n8n's editor would mark the field as wrong if its list failed.
 */
export async function listModelFields(context: ILoadOptionsFunctions) {
	const input = await findChosenInput(context);
	if ('reason' in input) return [{ name: input.reason, value: '' }];
	return listHelp(input.schema, input.price);
}

/** Reads the chosen model. */
function readModel(context: ILoadOptionsFunctions): string {
	const locator: unknown = context.getCurrentNodeParameter(anyModel.name);
	return String((isObject(locator) ? locator.value : locator) ?? '').trim();
}

/** Finds what the chosen model takes, and its price, if the list of models is known. */
async function findChosenInput(
	context: ILoadOptionsFunctions,
): Promise<FoundInput & { price?: string; remedy?: string }> {
	const model = readModel(context);
	if (!model) return { reason: 'Choose a model first', remedy: '' };
	if (isExpression(model))
		return { reason: "An expression gives the model, so its fields aren't known" };
	try {
		const service = await connect(context);
		const input = findInput(model, await readModelDocument(service, model));
		return { ...input, price: (await recallModel(service, model))?.pricingDesc };
	} catch (error) {
		return { reason: cutText((error as Error).message), remedy: findTokenRemedy(error) };
	}
}
