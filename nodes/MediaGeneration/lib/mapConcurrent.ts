/**
 * Maps every entry, several at once.
 * @param isLast says after a result that no more entries are begun; default: never
 * @returns the results in the order of the entries; undefined for those that were not begun
 */
export async function mapConcurrent<Entry, Result>(
	entries: Entry[],
	map: (entry: Entry, index: number) => Promise<Result>,
	{
		concurrency,
		isLast = () => false,
	}: { concurrency: number; isLast?: (result: Result) => boolean },
): Promise<Array<Result | undefined>> {
	const results = new Array<Result | undefined>(entries.length).fill(undefined);
	const rest = entries.entries();
	let stopped = false;
	const worker = async () => {
		for (const [index, entry] of rest) {
			if (stopped) return;
			const result = await map(entry, index);
			results[index] = result;
			stopped ||= isLast(result);
		}
	};
	await Promise.all(Array.from({ length: Math.min(concurrency, entries.length) }, worker));
	return results;
}

/** Makes a function that runs others in the order they come, up to `concurrency` at once. */
export function limitConcurrency(
	concurrency: number,
): <Result>(run: () => Promise<Result>) => Promise<Result> {
	let free = concurrency;
	const waiting: Array<() => void> = [];
	return async (run) => {
		if (free > 0) free--;
		else await new Promise<void>((resolve) => waiting.push(resolve));
		try {
			return await run();
		} finally {
			const next = waiting.shift();
			if (next) next();
			else free++;
		}
	};
}
