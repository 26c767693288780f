import type { Task } from '../../api/task';

/** The kinds of files that a task's result links to, and how each is found in it. */
export const RESULT_KINDS: Array<{
	name: string;
	value: string;
	find: (task: Task, result: Record<string, unknown>) => unknown;
}> = [
	{ name: 'Cover', value: 'cover', find: (_, { data }) => [data].flat().map(getImage) },
	{ name: 'First Frame', value: 'firstFrame', find: (_, { firstFrameUrl }) => firstFrameUrl },
	{ name: 'Last Frame', value: 'lastFrame', find: (_, { lastFrameUrl }) => lastFrameUrl },
	{ name: 'Result', value: 'result', find: ({ resultUrls }) => resultUrls },
	{
		name: 'Result With Watermark',
		value: 'watermarked',
		find: (_, { resultWaterMarkUrls }) => resultWaterMarkUrls,
	},
];

/** Songs have the picture of their cover there. */
const getImage = (song: unknown): unknown =>
	(song as { image_url?: unknown } | null | undefined)?.image_url;

export interface ResultLink {
	kind: string;
	/** Among those of its kind, from 0. */
	index: number;
	url: string;
}

/** Reads a task's links of these kinds. A link that stands alone counts as a list of one. */
export function readLinks(task: Task, kinds: string[]): ResultLink[] {
	const result = (task.result ?? {}) as Record<string, unknown>;
	return RESULT_KINDS.filter(({ value }) => kinds.includes(value)).flatMap(
		({ value: kind, find }) =>
			[find(task, result)]
				.flat()
				.filter((url): url is string => typeof url === 'string' && url !== '')
				.map((url, index) => ({ kind, index, url })),
	);
}
