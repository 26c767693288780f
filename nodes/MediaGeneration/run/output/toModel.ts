import type { Task } from '../../api/task';
import type { Call } from '../../host/call';
import { Excerpt } from '../../lib/excerpt';
import type { OutputItem } from '../input/item';
import { SAID } from './errors';

/** A task as operations output it. */
type TaskOutput = Task & { resultUrls: string[]; file?: object };

/** What a model gets of a task, besides its links or result. It stays in its context. */
const FOR_MODELS = [
	'taskId',
	'status',
	'failCode',
	'failMessage',
	'creditsConsumed',
	'warning',
	'lookError',
];

const LINKS =
	'The links usually expire. Show an image to the user as Markdown, ![](link), and any other file as a link. For fresh links, look at the task by its taskId, with the operation Get.';

const GOES_ON =
	'The task continues. Do not create it again: wait for it by its taskId, with the operation Wait, or look at it later with Get.';

const CUT = 'This is not all of it: long texts are cut, and what found no room is left out.';

/** How much a model gets of an input item, in characters of JSON, and how much of it is notes. */
const LONGEST_JSON = 60_000;
const NOTES = 1_000;

/**
 * Fits the output of an input item to whoever gets it: a model, n8n's AI assistant, or a workflow.
 * n8n itself limits what its assistant reads.
 */
export function fitItems(call: Call, items: OutputItem[]): OutputItem[] {
	if (call.audience === 'model') return tellModel(call, items);
	if (call.audience === 'workflow') return items;
	return items.map((item) => addNote(item, isTimedOut(item) && GOES_ON));
}

/** Notes are on the first item: all are of one task. */
function tellModel({ kept }: Call, items: OutputItem[]): OutputItem[] {
	const excerpt = new Excerpt(LONGEST_JSON - NOTES);
	const selected = items.map((item) => ({ ...item, json: select(item.json) }));
	const told = selected
		.map((item) => ({ ...item, json: (excerpt.copy(item.json) ?? {}) as object }))
		.filter(({ json }) => Object.keys(json).length > 0);
	const names = new Set(selected.flatMap(({ json }) => Object.keys(json)));
	const hasLinks = names.has('resultUrls') || names.has('file');
	const notes = [
		// Without an execution n8n has no place for files.
		hasLinks && !kept && LINKS,
		SAID,
		items.some(isTimedOut) && GOES_ON,
		excerpt.isCut && CUT,
	];
	return told.map((item, index) => (index ? item : addNote(item, ...notes)));
}

/** A raw record may have such names too, so this is about its form only. */
const isTaskOutput = (json: object): json is TaskOutput =>
	'taskId' in json && 'status' in json && 'resultUrls' in json && Array.isArray(json.resultUrls);

const isTimedOut = ({ json }: OutputItem): boolean =>
	isTaskOutput(json) && json.status === 'timedOut';

/** Leaves out what a model doesn't need of a task, and says no link twice. */
function select(json: object): object {
	if (!isTaskOutput(json)) return json;
	const { resultUrls, result, file } = json;
	const facts = Object.entries(json).filter(([name]) => FOR_MODELS.includes(name));
	const told = Object.fromEntries(facts);
	if (file) return { ...told, file };
	if (resultUrls.length) return { ...told, resultUrls };
	return result === undefined ? told : { ...told, result };
}

function addNote({ json, ...files }: OutputItem, ...notes: Array<string | false>): OutputItem {
	const note = notes.filter(Boolean).join(' ');
	return { ...files, json: note ? { ...json, note } : json };
}
