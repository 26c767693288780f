import fs from 'node:fs';
import path from 'node:path';
import { root } from '../../../dev/pack.cts';

const pages = ['.', 'docs']
	.flatMap((folder) =>
		fs.readdirSync(path.join(root, folder)).map((name) => path.join(folder, name)),
	)
	.filter((page) => page.endsWith('.md'));

const read = (page: string) => fs.readFileSync(path.join(root, page), 'utf8');

/** Lists the anchors of a page's headings as GitHub names them. */
const listAnchors = (page: string) =>
	[...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
		heading
			.toLowerCase()
			.replace(/[^\p{L}\d\s_-]/gu, '')
			.replaceAll(' ', '-'),
	);

const links = pages.flatMap((page) =>
	[...read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target = '']) => ({
		page,
		target,
	})),
);

it.each(links)('$page links to $target, which exists', ({ page, target }) => {
	const [file = '', anchor] = target.split('#');
	const linked = file ? path.join(path.dirname(page), file) : page;
	expect(fs.existsSync(path.join(root, linked))).toBe(true);
	if (anchor) expect(listAnchors(linked)).toContain(anchor);
});
