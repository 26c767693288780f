import fs from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { logFailure } from '../log.cts';
import { root } from '../pack.cts';
import { findBreaks } from './compare.cts';
import { readContract, type Contract } from './contract.cts';
import { readPublished } from './published.cts';

/** The contract of the last release, so that no network is needed. */
const COPY = path.join(__dirname, 'released.json');

/** The last release, as far as it is known here. */
interface Release {
	/** Of the package. */
	version: string;
	contract: Contract;
}

const HELP = `npm run contract                 holds the build against the copy of the last release
npm run contract -- --published  holds it against what npm has, or the copy if npm has nothing
npm run contract -- --take       takes a new copy from npm, after a release`;

const readCopy = () => JSON.parse(fs.readFileSync(COPY, 'utf8')) as Release;

/** A copy comes from npm and from nowhere else, so nobody makes a break pass by taking a new one. */
async function take(name: string): Promise<void> {
	const published = await readPublished(name);
	if (!published) throw new Error(`npm has no ${name}: a copy is taken after a release`);
	const options = await resolveConfig(COPY);
	fs.writeFileSync(COPY, await format(JSON.stringify(published), { ...options, filepath: COPY }));
	console.log(`The contract of ${published.version} is in ${path.relative(root, COPY)}`);
}

async function check(isPublished: boolean): Promise<void> {
	const now = readContract(root);
	const published = isPublished ? await readPublished(now.package) : undefined;
	const { version, contract } = published ?? readCopy();
	const breaks = findBreaks(contract, now);
	console.log(`${breaks.length} breaks of the contract since ${version}`);
	if (breaks.length === 0) return;
	console.log(breaks.join('\n'));
	console.log('What to do instead: CONTRIBUTING.md, "What workflows store"');
	process.exitCode = 1;
}

async function main(): Promise<void> {
	const [option, ...others] = process.argv.slice(2);
	if (others.length > 0 || ![undefined, '--published', '--take'].includes(option))
		throw new Error(HELP);
	if (option === '--take') await take(readContract(root).package);
	else await check(option === '--published');
}

main().catch(logFailure);
