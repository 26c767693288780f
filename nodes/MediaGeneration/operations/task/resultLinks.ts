import type { Task } from '../../service/task';

/** The kinds of files that a task's result links to, and the key that each stands under. */
export const RESULT_KINDS = [
	{ name: 'First Frame', value: 'firstFrame', key: 'firstFrameUrl' },
	{ name: 'Last Frame', value: 'lastFrame', key: 'lastFrameUrl' },
	{ name: 'Result', value: 'result', key: 'resultUrls' },
	{ name: 'Result With Watermark', value: 'watermarked', key: 'resultWaterMarkUrls' },
];

export interface ResultLink {
	kind: string;
	/** Among those of its kind, from 0. */
	index: number;
	url: string;
}

/** A task's links of these kinds; a link that stands alone counts as a list of one. */
export function resultLinks({ result, resultUrls }: Task, kinds: string[]): ResultLink[] {
	const record = { resultUrls, ...(result as Record<string, unknown> | undefined) };
	return RESULT_KINDS.filter(({ value }) => kinds.includes(value)).flatMap(({ value: kind, key }) =>
		[record[key as keyof typeof record]]
			.flat()
			.filter((url): url is string => typeof url === 'string' && url !== '')
			.map((url, index) => ({ kind, index, url })),
	);
}
