/** A price of a model. The list says the same in words. */
export interface Price {
	credits: number;
	/** The values that the input must have for this price; any by default. */
	when?: Record<string, unknown>;
	/**
	 * The field that is charged: a number by its value, a list by its entries, a text by each begun thousand of characters. A
	 * field that the input lacks counts as one.
	 */
	each?: string;
	/** Credits of each task, beside those for the field. */
	base?: number;
}

/** Counts what a field is charged for. `shots.duration` charges each entry of the list `shots` by its field `duration`. */
function countCharged(input: Record<string, unknown>, each: string): number {
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

/** Finds what a task costs, by the first of a model's prices that is for its input. */
export function findCost(prices: Price[], input: Record<string, unknown>) {
	const price = prices.find(({ when = {} }) =>
		Object.entries(when).every(([field, value]) => input[field] === value),
	);
	return (
		price && (price.base ?? 0) + price.credits * (price.each ? countCharged(input, price.each) : 1)
	);
}
