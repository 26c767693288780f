import fs from 'node:fs';
import path from 'node:path';
import type { Files } from '../../../../dev/brand/files.cts';
import { checkFolder, output } from '../../../../dev/brand/output.cts';
import { openFolder, root } from '../../../../dev/pack.cts';

const toFiles = (texts: Record<string, string>): Files =>
	new Map(
		Object.entries(texts).map(([name, text]) => [name, { data: Buffer.from(text), mode: 0o644 }]),
	);
const list = (folder: string) =>
	fs
		.readdirSync(folder, { recursive: true, encoding: 'utf8' })
		.filter((name) => !name.startsWith('.git'))
		.sort();

const write = (folder: string, name: string, text = '') => {
	fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
	fs.writeFileSync(path.join(folder, name), text);
};

it('a folder that is not empty and was not made by this command is refused', () => {
	using folder = openFolder();
	const place = path.join(folder.path, 'there');
	expect(() => checkFolder(place)).not.toThrow();
	write(place, 'package.json');
	expect(() => checkFolder(place)).toThrow(/^Nothing was written\. .*there isn't empty/);
});

it.each([root, path.join(root, 'made'), path.dirname(root)])(
	'%s is refused, as it is in or around this package',
	(place) => {
		expect(() => checkFolder(place)).toThrow('Give a folder outside of');
	},
);

it('.git and node_modules stay, also in a folder that has nothing else yet', () => {
	using folder = openFolder();
	write(folder.path, '.git/config', 'theirs');
	write(folder.path, 'node_modules/a/index.js', 'module');
	expect(() => checkFolder(folder.path)).not.toThrow();
	output(toFiles({ 'a/b.txt': 'b' }), folder.path);
	expect(() => checkFolder(folder.path)).not.toThrow();
	output(toFiles({ c: 'c' }), folder.path);
	expect(fs.readFileSync(path.join(folder.path, '.git/config'), 'utf8')).toBe('theirs');
	expect(list(folder.path)).toEqual([
		'.branded.json',
		'c',
		'node_modules',
		'node_modules/a',
		'node_modules/a/index.js',
	]);
});

it('a second run changes nothing, and a later one what has changed; files of others stay', () => {
	using folder = openFolder();
	const files = toFiles({ 'a.txt': 'a', 'b/c.txt': 'c', 'd/e.txt': 'e' });
	expect(output(files, folder.path).written).toHaveLength(4);
	expect(fs.existsSync(path.join(folder.path, '.git', 'HEAD'))).toBe(true);
	expect(output(files, folder.path)).toEqual({ written: [], removed: [] });
	write(folder.path, 'd/own.txt');
	const later = toFiles({ 'a.txt': 'A', 'd/e.txt': 'e' });
	expect(output(later, folder.path)).toEqual({
		written: ['a.txt', '.branded.json'],
		removed: ['b/c.txt'],
	});
	expect(list(folder.path)).toEqual(['.branded.json', 'a.txt', 'd', 'd/e.txt', 'd/own.txt']);
});
