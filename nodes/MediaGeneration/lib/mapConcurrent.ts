/**
 * Maps entries, several at once.
 * @param afterEach is called with a result, and returns true to begin no further entries
 * @returns the results in the order of the entries; undefined for each entry that wasn't begun
 */
export async function mapConcurrent<Entry, Result>(
	entries: Entry[],
	map: (entry: Entry, index: number) => Promise<Result>,
	{ concurrency, afterEach }: { concurrency: number; afterEach?: (result: Result) => boolean },
): Promise<Array<Result | undefined>> {
	const doInTurn = limitConcurrency(concurrency);
	let isOver = false;
	return await Promise.all(
		entries.map(
			async (entry, index) =>
				await doInTurn(async () => {
					if (isOver) return undefined;
					const result = await map(entry, index);
					isOver ||= afterEach?.(result) ?? false;
					return result;
				}),
		),
	);
}

/** Makes a function that does work in order of arrival, up to `concurrency` at once. */
export function limitConcurrency(
	concurrency: number,
): <Result>(work: () => Promise<Result>) => Promise<Result> {
	let free = concurrency;
	const waiting: Array<() => void> = [];
	return async (work) => {
		if (free > 0) free--;
		else await new Promise<void>((resolve) => void waiting.push(resolve));
		try {
			return await work();
		} finally {
			const next = waiting.shift();
			if (next) next();
			else free++;
		}
	};
}
