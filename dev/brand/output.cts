import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { root } from '../pack.cts';
import type { Files } from './files.cts';
import { writeFiles } from './finish.cts';

/** Lists the files that this command made. It tells its folders by it. */
const LIST = '.branded.json';

/** What a repository has before it has files. */
const KEPT = ['.git', 'node_modules'];

const readList = (folder: string) =>
	(JSON.parse(fs.readFileSync(path.join(folder, LIST), 'utf8')) as { files: string[] }).files;

/** @throws {Error} if what is in a folder isn't this command's */
export function checkFolder(folder: string): void {
	const fromHere = path.relative(root, folder);
	const isApart = fromHere.startsWith('..') || path.isAbsolute(fromHere);
	if (!isApart || !path.relative(folder, root).startsWith('..'))
		throw new Error(`Nothing was written. Give a folder outside of ${root} as --out`);
	if (!fs.existsSync(folder) || fs.existsSync(path.join(folder, LIST))) return;
	if (fs.readdirSync(folder).some((name) => !KEPT.includes(name)))
		throw new Error(
			`Nothing was written. ${folder} isn't empty, and this command didn't make it. Give another folder as --out`,
		);
}

function removeFile(folder: string, name: string): void {
	fs.rmSync(path.join(folder, name), { force: true });
	let parent = path.dirname(name);
	while (parent !== '.' && fs.readdirSync(path.join(folder, parent)).length === 0) {
		fs.rmdirSync(path.join(folder, parent));
		parent = path.dirname(parent);
	}
}

/**
 * Brings the files into their folder, and removes those that an earlier run made and this one
 * didn't. Other files stay. A folder without a repository gets one, which the tests want.
 * @returns the names of files that were written, and of those removed
 */
export function output(files: Files, folder: string) {
	const names = [...files.keys()].sort();
	const known = fs.existsSync(path.join(folder, LIST)) ? readList(folder) : [];
	const removed = known.filter(
		(name) => !files.has(name) && fs.existsSync(path.join(folder, name)),
	);
	for (const name of removed) removeFile(folder, name);
	const list = Buffer.from(`${JSON.stringify({ files: names }, null, '\t')}\n`);
	const written = writeFiles(folder, new Map([...files, [LIST, { data: list, mode: 0o644 }]]));
	if (!fs.existsSync(path.join(folder, '.git')))
		execFileSync('git', ['init', '--quiet', '--initial-branch', 'main'], { cwd: folder });
	return { written, removed };
}
