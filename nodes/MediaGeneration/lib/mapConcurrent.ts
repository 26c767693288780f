/**
 * Maps entries, several at once.
 * @param isLast whether to start no further entries after this result; default: never
 * @returns the results in the order of the entries; undefined for those not started
 */
export async function mapConcurrent<Entry, Result>(
	entries: Entry[],
	map: (entry: Entry, index: number) => Promise<Result>,
	{ concurrency, isLast }: { concurrency: number; isLast?: (result: Result) => boolean },
): Promise<Array<Result | undefined>> {
	const inTurn = limitConcurrency(concurrency);
	let stopped = false;
	return await Promise.all(
		entries.map(
			async (entry, index) =>
				await inTurn(async () => {
					if (stopped) return undefined;
					const result = await map(entry, index);
					if (isLast?.(result)) stopped = true;
					return result;
				}),
		),
	);
}

/** Makes a function that runs tasks in order of arrival, up to `concurrency` at once. */
export function limitConcurrency(
	concurrency: number,
): <Result>(run: () => Promise<Result>) => Promise<Result> {
	let free = concurrency;
	const waiting: Array<() => void> = [];
	return async (run) => {
		if (free > 0) free--;
		else await new Promise<void>((resolve) => void waiting.push(resolve));
		try {
			return await run();
		} finally {
			const next = waiting.shift();
			if (next) next();
			else free++;
		}
	};
}
