import type { INodeProperties } from 'n8n-workflow';
import type { Model } from './model';

/**
 * AI builders read types that n8n makes of the node's properties. n8n keeps only the first of
 * several properties with one name, and drops a property named `mode`. What the types lack stands
 * in builder hints, which the editor doesn't show.
 */

/** Makes a property's builder hint. n8n before 2.20 needs `message`: it makes no types without it. */
export const toBuilderHint = (text: string) => ({ propertyHint: text, message: text });

/**
 * Makes the properties of all models. Each is shown for its own model. The first of several with one
 * name is hidden for the other models instead, which is the same to the editor, but lets n8n join
 * them in its types, with all their models. Any Model is last here, because n8n can't join the
 * conditions of its prompt.
 */
export function listModelProperties([anyModel, ...named]: Model[]): INodeProperties[] {
	const listed = [...named, anyModel].flatMap((model) => model ?? []);
	const all = listed.flatMap(({ properties }) => properties);
	return listed.flatMap(({ id, properties }) =>
		properties.map((property) => {
			const [first, another] = all.filter(({ name }) => name === property.name);
			if (first !== property || !another) return property;
			const show = { ...property.displayOptions?.show };
			delete show.model;
			const others = listed.map((model) => model.id).filter((other) => other !== id);
			const hide = { ...property.displayOptions?.hide, model: others };
			return { ...property, displayOptions: { show, hide } };
		}),
	);
}

/** Describes what each model takes, one line per model. */
export const describeModels = (models: Model[]): string =>
	[
		'Each model takes the parameters in its line and no others. Set them beside model, also where a type below lacks them.',
		...models.map(({ id, description, properties }) => {
			const taken = properties.filter(({ type }) => type !== 'notice').map(describeParameter);
			return `${id}: ${description}. Parameters: ${[...new Set(taken)].join(', ')}`;
		}),
	].join('\n');

function describeParameter({ name, required, options = [] }: INodeProperties): string {
	const values = options.flatMap((option) => ('value' in option ? `'${option.value}'` : []));
	const facts = [required && 'required', values.join(' | ')].filter(Boolean).join(', ');
	return facts ? `${name} (${facts})` : name;
}
