import type { Task } from '../../api/task';
import type { Call } from '../../host/call';
import { Excerpt } from '../../lib/excerpt';
import type { OutputItem } from '../input/item';
import { SAID } from './errors';

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

const LINKS_EXPIRE =
	'Links usually expire. Show an image to the user as Markdown, ![](link), and any other file as a link. For fresh links, look at the task by its taskId, with the operation Get.';

const TASK_GOES_ON =
	'The task continues. Do not create it again: wait for it by its taskId, with the operation Wait, or look at it later with Get.';

const IS_CUT = 'This is not all of it: long texts are cut, and what found no room is left out.';

/** How much a model gets of an input item beside notes, in characters of JSON. */
const LONGEST_JSON = 59_000;

/**
 * Fits the output of an input item to whoever gets it: a model, n8n's AI assistant, or a workflow.
 * n8n itself limits what its assistant reads.
 */
export function fitItems(call: Call, items: OutputItem[]): OutputItem[] {
	if (call.audience === 'agent') return tellModel(call, items);
	if (call.audience === 'workflow') return items;
	return items.map((item) => addNote(item, isTimedOut(item) && TASK_GOES_ON));
}

/** Notes are on the first item: all are of one task. */
function tellModel({ nodeContext }: Call, items: OutputItem[]): OutputItem[] {
	const excerpt = new Excerpt(LONGEST_JSON);
	const told = items
		.map((item) => ({ ...item, json: (excerpt.copy(select(item.json)) ?? {}) as object }))
		.filter(({ json }) => Object.keys(json).length > 0);
	const notes = [
		// Without an execution n8n has no place for files.
		!nodeContext && LINKS_EXPIRE,
		SAID,
		items.some(isTimedOut) && TASK_GOES_ON,
		excerpt.isCut && IS_CUT,
	];
	return told.map((item, index) => (index ? item : addNote(item, ...notes)));
}

const isTimedOut = ({ json }: OutputItem): boolean => (json as Task).status === 'timedOut';

/** Leaves out what a model doesn't need of a task, and says no link twice. */
function select(json: object): object {
	const { resultUrls, result, file, ...others } = json as Task & { file?: object };
	// A raw record may have such names too.
	if (!Array.isArray(resultUrls) || !('status' in json)) return json;
	const facts = Object.entries(others).filter(([name]) => FOR_MODELS.includes(name));
	const told = Object.fromEntries(facts);
	if (file) return { ...told, file };
	return resultUrls.length ? { ...told, resultUrls } : { ...told, result };
}

function addNote({ json, ...files }: OutputItem, ...notes: Array<string | false>): OutputItem {
	const note = notes.filter(Boolean).join(' ');
	return { ...files, json: note ? { ...json, note } : json };
}
