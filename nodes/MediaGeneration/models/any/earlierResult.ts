import { spaceWords } from '../../lib/text';
import { listTypes, listValues, type JsonSchema } from './jsonSchema';
import { judgeMedia } from './mediaProperty';

/** The part of an earlier result that a property takes the ID of: the task, or one of its files. */
type EarlierPart = 'task' | 'file';

/**
 * Where the item of an earlier task has these IDs. n8n runs them as expressions, so they are constants: nothing that a service
 * says may get into them.
 */
export const EARLIER_IDS: Record<EarlierPart, string> = {
	task: '={{ $json.taskId }}',
	file: '={{ $json.file.id }}',
};

/** What to do when such an ID is missing. */
const EARLIER_HELP: Record<EarlierPart, string> = {
	task: 'Connect the Media Generation node that created the earlier task before this node, and fill in {{ $json.taskId }}.',
	file: "Connect the Media Generation node that created the earlier file before this node, set 'Output Items' in its Options to One per File, and fill in {{ $json.file.id }}.",
};

const FILE = 'audio|song|track|music|clip';
const NAMES: Array<[EarlierPart, RegExp]> = [
	['task', /(^| )task id$/],
	['file', new RegExp(`(^| )(${FILE}) id$`)],
];

/** "The audio ID", "ID of the song to extend", in the first sentence of what the service writes about a property. */
const PROSE: Array<[EarlierPart, RegExp]> = [
	[
		'file',
		new RegExp(`\\b(${FILE})[ _]?id\\b|\\bid of (the|an?|your) (\\w+ ){0,3}(${FILE})\\b`, 'i'),
	],
	['task', /\btask[ _]?id\b|\bid of (the|an?|your) (\w+ ){0,3}task\b/i],
];

/** Texts that hold words, whatever they speak of. */
const WORDS = /\b(prompt|text|description|lyrics|style|title|name|type|url)s?\b/;

/** A description says at its beginning what a property takes, in characters. */
const READ_PROSE = 200;

/** Finds by name and description whether a property takes the ID of an earlier result. */
export function findEarlierPart(name: string, schema: JsonSchema): EarlierPart | undefined {
	const types = listTypes(schema);
	if (types.length && !types.includes('string')) return undefined;
	if (listValues(schema) ?? schema.properties) return undefined;
	if (judgeMedia(name, schema) !== 'none') return undefined;
	const words = spaceWords(name.trim());
	const byName = NAMES.find(([, form]) => form.test(words));
	if (byName) return byName[0];
	if (WORDS.test(words)) return undefined;
	const [sentence = ''] = (schema.description ?? '').slice(0, READ_PROSE).split(/[.\n]/);
	return PROSE.find(([, form]) => form.test(sentence))?.[0];
}

/** Says what to do when a property that takes the ID of an earlier result is missing. */
export function explainEarlierPart(name: string, schema: JsonSchema): string | undefined {
	const part = findEarlierPart(name, schema);
	return part && EARLIER_HELP[part];
}
