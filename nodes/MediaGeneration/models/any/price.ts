import { cutText, spaceWords } from '../../lib/text';
import type { Property } from '../schema';

/** What a model costs, in the service's own words, such as "5 seconds: 70 credits". */

/** The longest text that is read for a short price, in characters. */
const LONGEST = 200;

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
	const [line = ''] = cutText(price.trim(), LONGEST).split('\n');
	const [, priceOfOne, one] = PRICE_OF_ONE.exec(line) ?? [];
	if (priceOfOne && one) return `${priceOfOne} / ${shortenUnit(one)}`;
	const [, amount, unit, credits] = PRICED_AMOUNT.exec(line) ?? [];
	if (credits && unit) return `${credits} credits / ${amount} ${shortenUnit(unit)}`;
	return line.split(/[.;](?=\s|$)/)[0] ?? '';
}

const shortenUnit = (unit: string): string =>
	SHORT_UNITS.find(([long]) => long.test(unit))?.[1] ?? unit;

/** Words that say what a model makes or takes, and not what its price depends on. */
const OTHER_WORD = /^(audio|file|image|input|model|output|prompt|text|video)$/;

/** The fewest letters of a word that means something. */
const SHORTEST_WORD = 4;

/** Says whether a price names a field, by a word of its name or by one of its values, beside a number. */
export function isPriced({ name, schema }: Property, price: string): boolean {
	const lines = price.toLowerCase().split('\n');
	const inPrice = lines.filter((line) => /\d/.test(line)).flatMap(listWords);
	const ofName = listWords(name);
	const isNamed = (word: string) =>
		word.length >= SHORTEST_WORD && !OTHER_WORD.test(word) && inPrice.includes(word);
	if (ofName.some(isNamed)) return true;
	const values = (schema.enum ?? []).filter((value) => typeof value === 'string');
	const ofValues = values.flatMap((value) => listWords(value.toLowerCase()));
	// A number alone may count anything.
	if (ofValues.some((word) => /[a-z]/.test(word) && inPrice.includes(word))) return true;
	return inPrice.includes('second') && ofName.includes('duration');
}

/** Lists the words of a text, without their plural. */
const listWords = (text: string): string[] =>
	spaceWords(text)
		.split(' ')
		.filter(Boolean)
		.map((word) => word.replace(/s$/, ''));
