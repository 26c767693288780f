import { cutForJson, Excerpt } from '../../../nodes/MediaGeneration/lib/excerpt';

const link = 'https://x/a';

it.each([
	['what fits', 'abc', 5, 'abc'],
	['words', 'abcdefghijklm', 12, 'abcdefgh …'],
	['what JSON writes longer', '\u0001'.repeat(9), 20, '\u0001\u0001 …'],
	['a link', `at ${link}bcdefghijk`, 20, 'at …'],
	['a link in Markdown', `![](${link}bcdefghijk)`, 20, '![]( …'],
	['a link in a link', `${link}?u=${link}&b=cdefghi`, 34, ' …'],
	['no link before it', `${link} b cdefghijklmnopq`, 22, `${link} b cdef …`],
	['nothing of a link that just ended', `${link} ${'b'.repeat(50)}`, 16, `${link} …`],
])('cuts %s', (_, text, longest, cut) => {
	expect(cutForJson(text, longest)).toBe(cut);
	expect(JSON.stringify(cut).length).toBeLessThanOrEqual(longest);
});

it('cuts no character in half', () => {
	const text = `a${'😀\u0001'.repeat(100)}`;
	for (let longest = 10; longest < 500; longest++)
		expect(cutForJson(text, longest)).not.toMatch(/\p{Cs}/u);
});

it('copies no more than there is room for, and says so', () => {
	const value = { a: [1, 'text', null, { b: [] }], [link]: link, c: 'd'.repeat(300) };
	const whole = JSON.stringify(value).length;
	for (let room = 0; room < 2 * whole; room++) {
		const excerpt = new Excerpt(room);
		const copy = excerpt.copy(value);
		const size = copy === undefined ? 0 : JSON.stringify(copy).length;
		expect(size).toBeLessThanOrEqual(room);
		expect(excerpt.isCut).toBe(size < whole);
	}
});

it('is cut in time, whatever the text', () => {
	const texts = ['http://', '😀', '\u0001', 'a', 'a '].map((part) => part.repeat(400_000));
	const begun = Date.now();
	for (const text of texts) expect(cutForJson(text, 20_000).length).toBeGreaterThan(1);
	expect(Date.now() - begun).toBeLessThan(2_000);
});
