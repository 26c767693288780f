import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root } from '../../dev/pack.cts';

/** The parts of a contributor's clone that the steps concern. */
const COPIED = ['credentials', 'dev', 'nodes', 'test/unit'];

/** A step with code: the file that it names last before the code, the code's language, and the code. */
const STEP = /`([^`\s]+\.c?ts)`[^`]*:\n\n( *)```(ts|diff)\n([\s\S]*?)\n *```/g;

/** Follows a section of CONTRIBUTING.md, to the letter, in a copy of the sources. */
export function follow(title: string) {
	const document = fs.readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8');
	const section = document.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? '';
	const steps = [...section.matchAll(STEP)];
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-worked-example-'));
	for (const name of COPIED)
		fs.cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
	fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
	for (const [, name = '', indent = '', language, code = ''] of steps) {
		const text = code.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
		const file = path.join(folder, name);
		if (language === 'diff') fs.writeFileSync(file, applyDiff(file, text));
		else fs.writeFileSync(file, `${text}\n`, { flag: 'wx' });
	}
	return {
		/** The files that the section makes or changes, in its order. */
		files: steps.map(([, name = '']) => name),
		/** Loads a module of the copy. */
		load: async <Module,>(file: string) => (await import(path.join(folder, file))) as Module,
		remove: () => fs.rmSync(folder, { recursive: true, force: true }),
	};
}

/** Adds the lines that a diff adds, each right behind the line that the diff has before it. */
function applyDiff(file: string, diff: string) {
	const lines = fs.readFileSync(file, 'utf8').split('\n');
	let at = 0;
	for (const line of diff.split('\n')) {
		if (line.startsWith('@@')) continue;
		if (line.startsWith('+')) lines.splice(at++, 0, line.slice(1));
		else {
			const found = lines.indexOf(line.slice(1), at);
			if (found < 0) throw new Error(`${file} has no line "${line.slice(1)}", as the diff has it`);
			at = found + 1;
		}
	}
	return lines.join('\n');
}
