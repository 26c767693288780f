import type { Context } from './index.cts';
import type { TaskRecord } from './tasks.cts';

/** The fields of each kind of result, and the name of the first file in each field. */
const fields = {
	video: {
		resultUrls: 'result.mp4',
		firstFrameUrl: 'first-frame.png',
		lastFrameUrl: 'last-frame.png',
	},
	image: { resultUrls: 'result.png' },
	speech: { resultUrls: 'result.mp3' },
	music: { audio_url: 'result.mp3', stream_audio_url: 'stream.mp3', image_url: 'cover.png' },
	text: {},
};

export interface Result {
	kind: keyof typeof fields;
	/** The number of files in each field; one by default. */
	files?: number;
	/** `resultJson` is an object instead of JSON in a string. */
	asObject?: boolean;
}

/** Builds the ID of one of a task's songs. */
export const nameSong = (taskId: string, index: number) => `${taskId}-song-${index + 1}`;

/** Names a task's result files, by field. */
function nameFiles({ result, faults }: TaskRecord): Array<[field: string, names: string[]]> {
	const length = faults.files ?? result.files ?? 1;
	const name = (first: string, index: number) =>
		index ? first.replace('.', `-${index + 1}.`) : first;
	return Object.entries(fields[result.kind]).map(([field, first]: [string, string]) => [
		field,
		Array.from({ length }, (_, index) => name(first, index)),
	]);
}

/** Whether the task is completed and has a file of this name. */
export const hasFile = (record: TaskRecord, name: string) =>
	record.state === 'success' && nameFiles(record).some(([, names]) => names.includes(name));

export interface FormattedResult {
	resultJson: string | object;
	/** The result as an object. In older records only music has it. */
	response?: object;
}

/** The result of a finished task, with fresh links. */
export function formatResult({ settings, filesUrl }: Context, record: TaskRecord): FormattedResult {
	const { taskId, result } = record;
	const { resultSeconds: seconds = null } = settings;
	const query = seconds === null ? '' : `?expires=${Date.now() + seconds * 1000}`;
	const link = (name: string) => `${filesUrl}/results/${taskId}/${name}${query}`;
	const links = nameFiles(record).map(([field, names]) => [field, names.map(link)] as const);

	if (result.kind === 'music') {
		const [[, songs = []] = []] = links;
		const data = songs.map((_, index) => ({
			id: nameSong(taskId, index),
			...Object.fromEntries(links.map(([field, urls]) => [field, urls[index]])),
			title: `Foxes at Dusk, Take ${index + 1}`,
			duration: 0.21,
		}));
		return { resultJson: '', response: { data } };
	}
	const text = { resultObject: { text: 'A fox crosses a field at dusk.', language: 'en' } };
	const content: object = result.kind === 'text' ? text : Object.fromEntries(links);
	return { resultJson: result.asObject ? content : JSON.stringify(content) };
}
