import fs from 'node:fs';
import path from 'node:path';
import execa from 'execa';
import { root } from '../pack.cts';
import type { Files } from './files.cts';

/** Writes files into a folder, but for those that are so already. */
export function writeFiles(folder: string, files: Files): string[] {
	const written: string[] = [];
	for (const [name, { data, mode }] of files) {
		const file = path.join(folder, name);
		if (fs.existsSync(file) && fs.readFileSync(file).equals(data)) continue;
		fs.mkdirSync(path.dirname(file), { recursive: true });
		fs.writeFileSync(file, data, { mode });
		written.push(name);
	}
	return written;
}

/**
 * Finishes the files in a draft folder with the tools of this package: the snapshot has lists in the
 * order of their names, and long names move line breaks.
 */
export async function finishFiles(files: Files, draft: string): Promise<void> {
	writeFiles(draft, files);
	const modules = path.join(draft, 'node_modules');
	fs.symlinkSync(path.join(root, 'node_modules'), modules, 'junction');
	const run = async (command: string, ...args: string[]) =>
		await execa(command, args, { cwd: draft, preferLocal: true, localDir: root });
	const unit = ['--selectProjects', 'unit', '--ci=false', '--update-snapshot'];
	await run('jest', ...unit, 'unit/declaration');
	await run('prettier', '--write', '--log-level', 'warn', '.');
	fs.rmSync(modules);
	for (const [name, file] of files) file.data = fs.readFileSync(path.join(draft, name));
}
