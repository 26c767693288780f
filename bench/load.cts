const { createRequire } = require('node:module');

/**
 * Run by startup.cts in a process of its own, by n8n's Node: loads with n8n's own loader what is named, and prints the
 * milliseconds of processor time. What n8n's loader itself needs is loaded before, and with it zod and n8n-workflow, as when n8n starts.
 *
 * Arguments: n8n's start script, the package's folder, and one of its node files; without one, the whole package is loaded.
 */
async function main() {
	const [, , bin = '', folder = '', file] = process.argv;
	const ofN8n = createRequire(bin);
	ofN8n('reflect-metadata');
	const { PackageDirectoryLoader } = ofN8n('n8n-core');
	const loader = new PackageDirectoryLoader(folder);
	const before = process.cpuUsage();
	if (file) loader.loadNodeFromFile(file);
	else await loader.loadAll();
	const { user, system } = process.cpuUsage(before);
	console.log((user + system) / 1000);
}

void main();
