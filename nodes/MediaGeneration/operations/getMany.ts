import type { INodeProperties } from 'n8n-workflow';
import type { CatalogueModel } from '../api/answers';
import { dropUndefined } from '../lib/json';
import { parseValue, type Field } from '../models/field';
import type { PlainOperation } from './operation';
import { readTextField } from './sharedFields';

const search: Field = {
	displayName: 'Search',
	name: 'search',
	type: 'string',
	default: '',
	placeholder: 'e.g. image to video',
	description: 'Each word must be in the name, provider or type. Left blank, all are listed.',
};

const returnAll: INodeProperties = {
	displayName: 'Return All',
	name: 'returnAll',
	type: 'boolean',
	default: false,
	description: 'Whether to return all results or only up to a given limit',
};

const limit: Field = {
	displayName: 'Limit',
	name: 'limit',
	type: 'number',
	typeOptions: { minValue: 1, numberPrecision: 0 },
	default: 50,
	description: 'Max number of results to return',
	displayOptions: { show: { returnAll: [false] } },
};

export const getManyOperation: PlainOperation = {
	resource: 'model',
	value: 'getMany',
	name: 'Get Many',
	action: 'Get many models',
	description: 'List the models of the service, with their types and prices',
	fields: [search, returnAll, limit],
	prepare: (item) => {
		const { read, service } = item;
		const words = readTextField(item, search);
		const isAll = parseValue(returnAll, read(returnAll.name));
		const most = isAll ? Infinity : Number(parseValue(limit, read(limit.name)) ?? limit.default);
		return async () => {
			const { findModels } = await import('../api/catalogue');
			const models = await findModels(service, words);
			return models.slice(0, most).map((model) => ({ json: describeModel(model) }));
		};
	},
};

/** Makes an item of a model. A key is absent where the catalogue says nothing. */
export const describeModel = ({ model, title, provider, taskType, ...more }: CatalogueModel) =>
	dropUndefined({
		model,
		title,
		provider,
		type: taskType.join(', ') || undefined,
		price: more.pricingDesc,
		description: more.description,
	});
