const fs = require('node:fs');
const path = require('node:path');
const { npm } = require('./npm');

const root = path.join(__dirname, '..');

/**
 * @typedef {{ version?: string, optional?: boolean, extraneous?: boolean }} Entry
 */

/**
 * Whether `node_modules` holds what package-lock.json asks for; npm notes there what it has installed.
 * What is optional may be missing, for it can belong to another platform; what is extraneous is never installed.
 */
function isInstalled() {
	const noted = path.join(root, 'node_modules', '.package-lock.json');
	if (!fs.existsSync(noted)) return false;
	const { '': _root, ...wanted } = packages(path.join(root, 'package-lock.json'));
	const installed = packages(noted);
	return Object.entries(wanted).every(([place, { version, optional, extraneous }]) => {
		const found = installed[place];
		return found ? found.version === version : (optional ?? extraneous);
	});
}

/**
 * @param {string} lock
 * @returns {Record<string, Entry>}
 */
function packages(lock) {
	return JSON.parse(fs.readFileSync(lock, 'utf8')).packages;
}

async function main() {
	if (isInstalled()) return;
	console.log('Installing the development dependencies of package-lock.json');
	await npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
		cwd: root,
		what: 'npm ci',
		tries: 3,
		log: console.log,
	});
}

main().catch((error) => {
	console.error(error.message);
	process.exitCode = 1;
});
