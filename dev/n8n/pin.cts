import fs from 'node:fs';
import path from 'node:path';
import { logFailure } from '../log.cts';
import { runCommand } from '../command.cts';
import pinned from './package.json';

/**
 * Pins the n8n that a tag of the registry names, such as `latest` or `beta`, in a folder of this name beside the others:
 * `MEDIA_GENERATION_N8N` takes it then.
 */
async function main() {
	const [tag = ''] = process.argv.slice(2);
	if (!/^[a-z]+$/.test(tag)) throw new Error('Name a tag of n8n, for example latest');
	const folder = path.join(__dirname, tag);
	fs.mkdirSync(folder, { recursive: true });
	const view = ['view', `n8n@${tag}`, 'version'];
	const version = (await runCommand('npm', view, { cwd: folder, what: 'npm view' })).trim();
	const dependencies = { ...pinned.dependencies, n8n: version };
	const manifest = { ...pinned, name: `${pinned.name}-${tag}`, dependencies };
	fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
	const lock = ['install', '--package-lock-only', '--legacy-peer-deps', '--ignore-scripts'];
	await runCommand('npm', lock, { cwd: folder, what: 'npm install', tries: 3 });
	console.log(`n8n ${tag} is ${version}`);
}

main().catch(logFailure);
