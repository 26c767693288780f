import fs from 'node:fs';
import path from 'node:path';
import { root } from './pack.cts';

/** Names that stand for the owner's until the first release. */
const PLACEHOLDERS =
	/github\.com\/n8n-nodes-media-generation\/|n8n-nodes-media-generation( contributors|\.example)/;

/** What an owner edits. */
export const PLACES = ['package.json', 'LICENSE', 'SECURITY.md', 'credentials', 'nodes'];

function listFiles(place: string): string[] {
	if (fs.statSync(place).isFile()) return [place];
	return fs.readdirSync(place).flatMap((name) => listFiles(path.join(place, name)));
}

/** Lists the lines of a package's files that still hold a placeholder, as `file:line: text`. */
export const listPlaceholders = (folder: string): string[] =>
	PLACES.flatMap((place) => listFiles(path.join(folder, place))).flatMap((file) =>
		fs
			.readFileSync(file, 'utf8')
			.split('\n')
			.map((line, index) => `${path.relative(folder, file)}:${index + 1}: ${line.trim()}`)
			.filter((line) => PLACEHOLDERS.test(line)),
	);

if (require.main === module) {
	const found = listPlaceholders(root);
	if (found.length) {
		console.error(
			`Before a release, put your own in place of these. CONTRIBUTING.md, "Release", lists what an owner sets.\n${found.join('\n')}`,
		);
		process.exitCode = 1;
	}
}
