import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runCommand } from './command.cts';

export const root = path.join(__dirname, '..');

/** Makes a temporary folder that is removed at the end of a `using` block. */
export function openFolder() {
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-'));
	return {
		path: folder,
		[Symbol.dispose]: () => fs.rmSync(folder, { recursive: true, force: true }),
	};
}

interface PackResult {
	filename: string;
	files: Array<{ path: string }>;
}

/**
 * Packs the built package into a folder, as it is published.
 * @returns the tarball, and the paths in it
 */
export async function pack(folder: string) {
	if (!fs.existsSync(path.join(root, 'dist', 'nodes'))) {
		throw new Error('The package is not built: run "npm run build" first');
	}
	const printed = await runCommand(
		'npm',
		['pack', '--json', '--ignore-scripts', '--pack-destination', folder],
		{ cwd: root, what: 'npm pack' },
	);
	const [packed] = JSON.parse(printed) as PackResult[];
	if (!packed) throw new Error(`npm pack printed ${printed}`);
	const { filename, files } = packed;
	return { tarball: path.join(folder, filename), files: files.map((file) => file.path) };
}
