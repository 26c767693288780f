/** What a task costs, as the list says it in words. */
export interface Price {
	credits: number;
	/** The input that it is for; any by default. */
	when?: Record<string, unknown>;
	/**
	 * The field whose seconds, entries or begun thousands of characters cost so much each. Of what isn't in the input, such as
	 * the length of a video behind a URL, there is one.
	 */
	each?: string;
	/** Credits beside that. */
	base?: number;
}

/** Counts what is charged. Entries of a list count by one of their fields, as in `shots.duration`. */
function count(input: Record<string, unknown>, each: string): number {
	const [field = '', ofEntry] = each.split('.');
	const value = input[field];
	if (Array.isArray(value) && !ofEntry) return value.length;
	const entries = Array.isArray(value)
		? value.map((entry: Record<string, unknown>) => entry[String(ofEntry)])
		: [value];
	const texts = entries.filter((entry) => typeof entry === 'string');
	if (texts.length) return Math.ceil(texts.join('').length / 1000);
	const numbers = entries.filter((entry) => typeof entry === 'number');
	return numbers.length ? numbers.reduce((total, number) => total + number, 0) : 1;
}

/** Returns what a task costs: the first of a model's prices that is for its input. */
export function findCost(prices: Price[], input: Record<string, unknown>) {
	const price = prices.find(({ when = {} }) =>
		Object.entries(when).every(([field, value]) => input[field] === value),
	);
	return price && (price.base ?? 0) + price.credits * (price.each ? count(input, price.each) : 1);
}
