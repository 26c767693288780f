import { cutText } from '../../lib/text';

/** What a model costs, in the service's own words, such as "5 seconds: 70 credits". */

/** An amount before its price in a sentence. */
const PRICED_AMOUNT = /(\d+)[\s-](?!credits?\b)([a-z]+)\b[^.;\d]*?(\d[\d.,]*) credits\b/i;

/** A price before its amount. */
const PRICE_OF_ONE =
	/^\W*(\d[\d.,]* credits?) (?:an?|each|every|per|for (?:an?|each|every)) ([a-z]+)\b/i;

/** How the units of long prices are shortened. */
const SHORT_UNITS: Array<[unit: RegExp, short: string]> = [
	[/^sec(ond)?s?$/i, 's'],
	[/^min(ute)?s?$/i, 'min'],
];

/** Says the first price of several shortly, as in "70 credits / 5 s": lists of n8n's editor cut names. */
export function shortenPrice(price: string): string {
	const [line = ''] = cutText(price.trim()).split('\n');
	const [, priceOfOne, one] = PRICE_OF_ONE.exec(line) ?? [];
	if (priceOfOne && one) return `${priceOfOne} / ${shortenUnit(one)}`;
	const [, amount, unit, credits] = PRICED_AMOUNT.exec(line) ?? [];
	if (credits && unit) return `${credits} credits / ${amount} ${shortenUnit(unit)}`;
	return line.split(/[.;](?=\s|$)/)[0] ?? '';
}

const shortenUnit = (unit: string): string =>
	SHORT_UNITS.find(([long]) => long.test(unit))?.[1] ?? unit;
