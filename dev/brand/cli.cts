import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { logFailure } from '../log.cts';
import { openFolder } from '../pack.cts';
import { buildFiles, PICTURES, readSources } from './files.cts';
import { finishFiles } from './finish.cts';
import { checkFolder, output } from './output.cts';
import { parseBrand } from './schema.cts';

const USAGE = 'npm run brand -- brand.json --out ../n8n-nodes-acme';

/** @throws {Error} if there is no such file, or it isn't JSON */
function readBrand(file: string) {
	try {
		return parseBrand(JSON.parse(fs.readFileSync(file, 'utf8')));
	} catch (error) {
		throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
	}
}

/** Makes the package for a named service, under its own name. */
async function main() {
	const { positionals, values } = parseArgs({
		allowPositionals: true,
		options: { out: { type: 'string' } },
	});
	const [file] = positionals;
	if (!file || positionals.length > 1 || !values.out) throw new Error(`Usage: ${USAGE}`);
	const brand = readBrand(file);
	const folder = path.resolve(values.out);
	checkFolder(folder);
	const files = buildFiles(readSources(), brand, {
		folder: path.dirname(path.resolve(file)),
		hasPicture: (name) => fs.existsSync(path.join(folder, PICTURES, name)),
	});
	using draft = openFolder();
	await finishFiles(files, draft.path);
	const { written, removed } = output(files, folder);
	console.log(
		`${brand.package} is in ${folder}: ${files.size} files, ${written.length} written, ${removed.length} removed.`,
	);
	if (written.length > 0) console.log(`Next: npm install && npm test, there.`);
}

main().catch(logFailure);
