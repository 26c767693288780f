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
 * Makes the properties of all models, each shown for its own model. Of several with one name, the
 * first is hidden for the other models instead: the editor shows the same, but n8n then joins them
 * in its types, with all their models. Any Model is last here, because n8n can't join the conditions
 * of its prompt.
 */
export function listModelProperties([anyModel, ...named]: Model[]): INodeProperties[] {
	const listed = [...named, anyModel].filter((model) => model !== undefined);
	const ids = listed.map(({ id }) => id);
	const all = listed.flatMap(({ properties }) => properties);
	const isFirstOfSeveral = (property: INodeProperties): boolean => {
		const [first, ...others] = all.filter(({ name }) => name === property.name);
		return property === first && others.length > 0;
	};
	return listed.flatMap(({ id, properties }) => {
		const others = ids.filter((other) => other !== id);
		return properties.map((property) =>
			isFirstOfSeveral(property) ? hideFor(others, property) : property,
		);
	});
}

/** Hides a property for these models, where it was shown for its own one. */
function hideFor(models: string[], property: INodeProperties): INodeProperties {
	const { show = {}, hide = {} } = property.displayOptions ?? {};
	const shown = { ...show };
	delete shown.model;
	return { ...property, displayOptions: { show: shown, hide: { ...hide, model: models } } };
}

/** Describes what each model takes, one line per model. */
export const describeModels = (models: Model[]): string =>
	[
		'Each model takes the parameters in its line and no others. Set them beside model, also where a type below lacks them.',
		...models.map(({ id, description, properties }) => {
			const taken = properties.filter(({ type }) => type !== 'hidden').map(describeParameter);
			return `${id}: ${description}. Parameters: ${[...new Set(taken)].join(', ')}`;
		}),
	].join('\n');

function describeParameter({ name, required, options = [] }: INodeProperties): string {
	const values = options.flatMap((option) => ('value' in option ? `'${option.value}'` : []));
	const facts = [required && 'required', values.join(' | ')].filter(Boolean).join(', ');
	return facts ? `${name} (${facts})` : name;
}
