import { isUtf8 } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { root } from '../pack.cts';
import { changes, removePictures } from './changes.cts';
import type { Brand } from './schema.cts';
import { listIdentifiers, Speller } from './spellings.cts';

interface SourceFile {
	data: Buffer;
	mode: number;
}

/** Files by their paths, with slashes. */
export type Files = Map<string, SourceFile>;

/** Pictures show the name of this package: `npm run screenshots` takes them anew there. */
export const PICTURES = 'docs/pictures/';

/** What only this package has: this command, and its tests. */
const LEFT_OUT = ['dev/brand/', 'test/unit/dev/brand/', 'test/e2e/brand.test.cts', PICTURES];

/** Reads the files that git tracks. */
export function readSources(): Files {
	const listed = execFileSync('git', ['ls-files', '-z'], { cwd: root }).toString().split('\0');
	const names = listed.filter(
		(name) =>
			name &&
			!LEFT_OUT.some((start) => name.startsWith(start)) &&
			fs.existsSync(path.join(root, name)),
	);
	return new Map(
		names.map((name) => {
			const file = path.join(root, name);
			return [name, { data: fs.readFileSync(file), mode: fs.statSync(file).mode & 0o777 }];
		}),
	);
}

const isText = ({ data }: SourceFile) => isUtf8(data) && !data.includes(0);

/** Lists all names that the code uses. */
function listUsedNames(files: Files): Set<string> {
	const used = new Set<string>();
	const visit = (node: ts.Node): void => {
		if (ts.isIdentifier(node)) used.add(node.text);
		ts.forEachChild(node, visit);
	};
	for (const [name, { data }] of files)
		if (/\.c?ts$/.test(name))
			visit(ts.createSourceFile(name, data.toString(), ts.ScriptTarget.Latest));
	return used;
}

/** @throws {Error} if the code already has something of a name that is made of the brand's */
function checkNames(brand: Brand, used: Set<string>): void {
	const taken = listIdentifiers(brand).filter((name) => used.has(name));
	if (taken.length > 0)
		throw new Error(
			`Nothing was written. The code uses ${taken.join(', ')} already: make base and credential longer, such as ${brand.base}-ai and ${brand.credential.replace(/Api$/, 'AiApi')}`,
		);
}

interface Surroundings {
	/** The folder from which the brand's paths of icons begin. */
	folder: string;
	/** Whether the result has this picture already. */
	hasPicture: (name: string) => boolean;
}

/** Reads an icon. @throws {Error} if it is no SVG */
function readIcon(folder: string, entry: string, file: string): Buffer {
	const place = path.resolve(folder, file);
	const data = fs.existsSync(place) ? fs.readFileSync(place) : undefined;
	if (!data || !/<svg[\s>]/.test(data.toString()))
		throw new Error(`Nothing was written. icons.${entry}: there is no SVG file at ${place}`);
	return data;
}

/** Replaces the pictures of nodes and credential where the brand has its own. */
function replaceIcons(files: Files, { base, icons }: Brand, folder: string): void {
	if (!icons) return;
	const mode = 0o644;
	const light = readIcon(folder, 'light', icons.light);
	const dark = readIcon(folder, 'dark', icons.dark);
	files.set(`icons/${base}.svg`, { data: light, mode });
	files.set(`icons/${base}.dark.svg`, { data: dark, mode });
}

/** Makes the files of the package with another brand, not formatted yet. @throws {Error} if a trace of the old one is left */
export function buildFiles(sources: Files, brand: Brand, around: Surroundings): Files {
	const used = listUsedNames(sources);
	checkNames(brand, used);
	const speller = new Speller(brand, (name) => used.has(name));
	const built: Files = new Map();
	for (const [name, file] of sources) {
		const text = isText(file) ? file.data.toString() : '';
		const kept = name.endsWith('.md') ? removePictures(text, around.hasPicture) : text;
		const left = name !== 'LICENSE' && speller.findLeftOver(`${name}\n${kept}`);
		if (left) throw new Error(`Nothing was written. ${name} has an unknown spelling: ${left}`);
		// The license of this package must stay with its copies.
		const spelt = name === 'LICENSE' ? kept : speller.spell(kept);
		const changed = changes[name]?.(spelt, brand) ?? spelt;
		const data = isText(file) ? Buffer.from(changed) : file.data;
		built.set(speller.spell(name), { data, mode: file.mode });
	}
	replaceIcons(built, brand, around.folder);
	return built;
}
