import type { INodeProperties } from 'n8n-workflow';
import type { Model } from './model';

/**
 * AI builders read types that n8n makes of the node's properties. Of several properties with one
 * name n8n keeps the first, and it drops a property named `mode`. So what the types don't show
 * stands in hints, which the editor doesn't show.
 */

/** Makes a property's hint. n8n before 2.20 reads `message`, and can't make types without it. */
export const toBuilderHint = (text: string) => ({ propertyHint: text, message: text });

/**
 * Makes the properties of all models. The editor shows those of the chosen model, in the model's
 * order. Where several models have a field of one name, the first of these properties is hidden for
 * all other models, instead of shown for its own: n8n then joins them in its types, and knows all
 * of their models. Any Model is last here, because n8n can't join the conditions of its prompt.
 */
export function listModelProperties([anyModel, ...others]: Model[]): INodeProperties[] {
	const listed = [...others, anyModel].flatMap((model) => model ?? []);
	const names = listed.flatMap(({ properties }) => properties.map(({ name }) => name));
	const ids = listed.map(({ id }) => id);
	let index = 0;
	return listed.flatMap(({ id, properties }) =>
		properties.map((property) => {
			const at = index++;
			const isShared = names.indexOf(property.name) === at && names.lastIndexOf(property.name) > at;
			if (!isShared) return property;
			const conditions = Object.entries(property.displayOptions?.show ?? {});
			const show = Object.fromEntries(conditions.filter(([name]) => name !== 'model'));
			const hide = { ...property.displayOptions?.hide, model: ids.filter((one) => one !== id) };
			return { ...property, displayOptions: { show, hide } };
		}),
	);
}

/**
 * Describes what each model takes: a line for each, "<model>: <what it does>. Parameters: <name>
 * (<facts>), …".
 */
export const describeModels = (models: Model[]): string =>
	[
		'Each model takes the parameters in its line and no others. Set them beside model, also where a type below lacks them.',
		...models.map(({ id, description, properties }) => {
			const taken = properties.filter(({ type }) => type !== 'notice').map(describeParameter);
			return `${id}: ${description}. Parameters: ${taken.join(', ')}`;
		}),
	].join('\n');

function describeParameter({ name, required, options = [] }: INodeProperties): string {
	const values = options.flatMap((option) =>
		'value' in option ? [`'${String(option.value)}'`] : [],
	);
	const facts = [required ? 'required' : '', values.join(' | ')].filter(Boolean).join(', ');
	return facts ? `${name} (${facts})` : name;
}
