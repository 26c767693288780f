import type { INodeProperties } from 'n8n-workflow';
import type { CatalogueModel } from '../api/schemas';
import { dropUndefined } from '../lib/json';
import { parseValue, toBuilderHint, type Field } from '../models/field';
import { defineOperation, runEach } from './operation';

const search: Field = {
	displayName: 'Search',
	name: 'search',
	type: 'string',
	default: '',
	placeholder: 'e.g. image to video',
	description:
		'Words of the name, the provider or the type of a model. Left blank, all are listed.',
	builderHint: toBuilderHint('Each word must be found: "image to video", or a name.'),
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

/** A model, as it is output. A key is absent where the catalogue says nothing. */
export interface ModelItem {
	/** The identifier, as 'Choose Model' takes it. */
	model: string;
	title?: string;
	provider?: string;
	/** What it makes, for example "Text to Image, Image Editing". */
	type?: string;
	/** In the service's words. */
	price?: string;
	description?: string;
}

export const getMany = defineOperation<{ words: string; most: number }>({
	resource: 'model',
	value: 'getMany',
	name: 'Get Many',
	action: 'Get many models',
	description: 'List the models of the service, with their types and prices',
	fields: [search, returnAll, limit],
	prepare: ({ read }) => ({
		words: (parseValue(search, read(search.name)) as string | undefined) ?? '',
		most: parseValue(returnAll, read(returnAll.name)) ? Infinity : readLimit(read(limit.name)),
	}),
	run: runEach(async ({ service }, { words, most }) => {
		const { searchCatalogue } = await import('./searchCatalogue');
		const models = await searchCatalogue(service, words);
		return models.slice(0, most).map((model) => ({ json: describeModel(model) }));
	}),
});

const readLimit = (value: unknown): number => (parseValue(limit, value) ?? limit.default) as number;

const describeModel = ({ model, title, provider, taskType, ...more }: CatalogueModel): ModelItem =>
	dropUndefined({
		model,
		title,
		provider,
		type: taskType.join(', ') || undefined,
		price: more.pricingDesc,
		description: more.description,
	});
