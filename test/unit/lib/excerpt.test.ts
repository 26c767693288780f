import { Excerpt } from '../../../nodes/MediaGeneration/lib/excerpt';
import { cutText } from '../../../nodes/MediaGeneration/lib/text';

const link = 'https://x/a';
const long = 'a'.repeat(3_990);

it.each([
	['what is longer', `${long}12345678901`, `${long}123456789…`],
	['at the blank before the mark', `${long} 12345678 ${long}`, `${long} 12345678…`],
	['a link', `${long.slice(20)} ${link}${long}`, `${long.slice(20)}…`],
	['a link in Markdown', `${long.slice(20)}![](${link}${long})`, `${long.slice(20)}![](…`],
])('cuts %s', (_, text, cut) => {
	expect(cutText(text, 4_000) === cut).toBe(true);
	expect(cut.length).toBeLessThanOrEqual(4_000);
});

it('cuts no character in half', () => {
	for (const start of ['', 'a']) expect(cutText(start + '😀'.repeat(4_000))).not.toMatch(/\p{Cs}/u);
});

it('copies no more than there is room for, and says so', () => {
	const value = { a: [1, 'text', null, { b: [] }], [link]: link, c: 'd'.repeat(300), '': '' };
	const whole = JSON.stringify(value).length;
	const sizes = new Set<number>();
	for (let room = 0; room < 2 * whole; room++) {
		const excerpt = new Excerpt(room);
		const copy = excerpt.copy(value);
		const size = copy === undefined ? 0 : JSON.stringify(copy).length;
		expect(size).toBeLessThanOrEqual(room);
		expect(excerpt.isCut).toBe(size < whole);
		sizes.add(size);
	}
	expect(sizes.size).toBeGreaterThan(8);
});

it('leaves out a link or name that is too long, because a part of it is useless', () => {
	const excerpt = new Excerpt(60_000);
	const value = { [`${long}12345678901`]: 1, a: `${link}${long}`, b: [`${link}${long}`, link] };
	expect(excerpt.copy(value)).toEqual({ b: [link] });
	expect(excerpt.isCut).toBe(true);
});

it('says that a text was cut, but not that a link was encoded', () => {
	const cuts = [`${long}${long}`, `${link}?[b]`].map((text) => {
		const excerpt = new Excerpt(60_000);
		expect(excerpt.copy(text)).not.toBe(text);
		return excerpt.isCut;
	});
	expect(cuts).toEqual([true, false]);
});
