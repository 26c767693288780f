import { models } from '../models';
import { customModel } from '../models/any/anyFields';
import { anyModel } from '../models/any/anyModel';

type Named = Record<'value' | 'name', string>;

/**
 * Makes the text below the node's name on the canvas: the model, or the operation if there is none.
 */
export function buildSubtitle(operations: Named[]): string {
	const chosen = `$parameter.${customModel.name}`;
	const names = mapNames(models.map(({ id, name }) => ({ value: id, name })));
	return `={{ $parameter.model === "${anyModel.id}" && (${chosen}?.value ?? ${chosen}) || (${names}[$parameter.model] ?? ${mapNames(operations)}[$parameter.operation]) }}`;
}

/** Writes an object for an expression that finds names by their values. */
const mapNames = (entries: Named[]): string =>
	`(${JSON.stringify(Object.fromEntries(entries.map(({ value, name }) => [value, name])))})`;
