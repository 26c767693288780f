/**
 * Does something for every entry, several at once.
 * @param goesOn whether more is begun after a result; default: always
 * @returns the results in the order of the entries; undefined for those that were not begun
 */
export async function inParallel<Entry, Result>(
	entries: Entry[],
	run: (entry: Entry, index: number) => Promise<Result>,
	{ atOnce, goesOn = () => true }: { atOnce: number; goesOn?: (result: Result) => boolean },
): Promise<Array<Result | undefined>> {
	const results = new Array<Result | undefined>(entries.length).fill(undefined);
	const rest = entries.entries();
	let stopped = false;
	const worker = async () => {
		for (const [index, entry] of rest) {
			if (stopped) return;
			const result = await run(entry, index);
			results[index] = result;
			stopped ||= !goesOn(result);
		}
	};
	await Promise.all(Array.from({ length: Math.min(atOnce, entries.length) }, worker));
	return results;
}
