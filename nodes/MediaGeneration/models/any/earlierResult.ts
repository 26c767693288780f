import { spaceWords } from '../../lib/text';
import { isMedia } from './mediaProperty';
import { listTypes, listValues, type JsonSchema } from './jsonSchema';

/** An earlier result that a property takes the ID of: a task, or one of its files. */
interface EarlierResult {
	kind: 'task' | 'file';
	/**
	 * Where the item of an earlier task has the ID. n8n runs it as an expression, so it is a
	 * constant: nothing that a service says may get into it.
	 */
	expression: string;
	/** What to do when the ID is missing. */
	help: string;
}

const TASK: EarlierResult = {
	kind: 'task',
	expression: '={{ $json.taskId }}',
	help: 'Connect the Media Generation node that created the earlier task before this node, and fill in {{ $json.taskId }}.',
};
const FILE: EarlierResult = {
	kind: 'file',
	expression: '={{ $json.file.id }}',
	help: "Connect the Media Generation node that created the earlier file before this node, set 'Output Items' in its Options to One per File, and fill in {{ $json.file.id }}.",
};

/** Finds by its name whether a property takes the ID of an earlier result. */
export function findEarlierResult(name: string, schema: JsonSchema): EarlierResult | undefined {
	const types = listTypes(schema);
	if (types.length && !types.includes('string')) return undefined;
	if (listValues(schema) || schema.properties || isMedia(name, schema)) return undefined;
	const words = spaceWords(name);
	if (/\btask id$/.test(words)) return TASK;
	return /\b(audio|song|track|music|clip) id$/.test(words) ? FILE : undefined;
}
