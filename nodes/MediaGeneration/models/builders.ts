import type { INodeProperties } from 'n8n-workflow';
import type { Model } from './model';

/**
 * AI builders read types that n8n makes of the node's properties. Of several properties with one name n8n keeps the first, and it
 * drops a property named `mode`. So what the types don't show stands in hints, which the editor doesn't show.
 */

/** Makes a property's hint. n8n before 2.20 reads `message`, and can't make types without it. */
export const toBuilderHint = (text: string) => ({ propertyHint: text, message: text });

/**
 * Makes the properties of all models. The editor shows those of the chosen model, in the model's order. Where several models have a
 * field of one name, the first of these properties is hidden for all other models, instead of shown for its own: n8n then joins them
 * in its types, and knows all of their models.
 */
export function listModelProperties(models: Model[]): INodeProperties[] {
	const ids = models.map(({ id }) => id);
	return models.flatMap((model) =>
		model.properties.map((property) => {
			const users = models.filter(({ fields }) =>
				fields.some(({ name }) => name === property.name),
			);
			if (users.length === 1 || users[0] !== model) return property;
			const { show = {}, hide } = property.displayOptions ?? {};
			const others = Object.entries(show).filter(([name]) => name !== 'model');
			const meanings = new Set(users.map((user) => describeMeaning(user, property.name)));
			return {
				...property,
				displayOptions: {
					...(others.length > 0 && { show: Object.fromEntries(others) }),
					hide: { ...hide, model: ids.filter((id) => id !== model.id) },
				},
				...(meanings.size > 1 && {
					builderHint: toBuilderHint(
						users.map((user) => `${user.id}: ${describeMeaning(user, property.name)}`).join('\n'),
					),
				}),
			};
		}),
	);
}

/** Lists a model's properties that take a value, each name once. */
const listProperties = ({ properties }: Model): INodeProperties[] =>
	properties.filter(
		({ name, type }, index) =>
			type !== 'notice' && properties.findIndex((other) => other.name === name) === index,
	);

const describeMeaning = ({ properties }: Model, name: string): string => {
	const { description = '', hint } = properties.find((property) => property.name === name) ?? {};
	return [description.replace(/\.$/, ''), hint].filter(Boolean).join('. ');
};

/** Describes what each model takes: a line for each, "<model>: <what it does>. Parameters: <name> (<facts>), …". */
export const describeModels = (models: Model[]): string =>
	[
		'Each model takes the parameters in its line and no others. Set them beside model, also where a type below lacks them.',
		...models.map(
			(model) =>
				`${model.id}: ${model.description}. Parameters: ${listProperties(model).map(describeProperty).join(', ')}`,
		),
	].join('\n');

const describeProperty = (property: INodeProperties): string =>
	`${property.name} (${describeValue(property)})`;

/** Describes a property's value in a few words, for example "required, text" or "'480p' | '720p' | another; default 720p". */
function describeValue({ required, default: byDefault, ...property }: INodeProperties): string {
	const facts = [required ? 'required' : undefined, describeType(property)].filter(Boolean);
	const shown =
		(typeof byDefault === 'string' && byDefault !== '') ||
		/^(number|boolean)$/.test(typeof byDefault)
			? `; default ${String(byDefault).replace(/\s+/g, ' ')}`
			: '';
	return facts.join(', ') + shown;
}

const TYPES: Partial<Record<INodeProperties['type'], string>> = {
	string: 'text',
	json: 'JSON',
	resourceLocator: 'resource locator',
	resourceMapper: 'resource mapper',
};

function describeType(property: Omit<INodeProperties, 'default'>): string {
	const { type, typeOptions = {}, options = [], allowArbitraryValues } = property;
	switch (type) {
		case 'options': {
			const values = options.map((option) => `'${String('value' in option && option.value)}'`);
			if (!values.length) return 'a list for people to read: leave it out';
			return [...values, ...(allowArbitraryValues ? ['another'] : [])].join(' | ');
		}
		case 'number': {
			const { numberPrecision, minValue, maxValue } = typeOptions;
			return [
				numberPrecision === 0 ? 'whole number' : 'number',
				minValue === undefined ? '' : ` from ${minValue}`,
				maxValue === undefined ? '' : ` to ${maxValue}`,
			].join('');
		}
		case 'fixedCollection':
			return options
				.map((group) =>
					'values' in group
						? `{ ${group.name}: [{ ${group.values.map(describeProperty).join(', ')} }] }`
						: '',
				)
				.join(' | ');
		default:
			return (typeOptions.multipleValues ? 'list of ' : '') + (TYPES[type] ?? type);
	}
}
