// Node itself strips the types of this file. It must not have import statements, which Node leaves in place.
import type * as n8nCore from 'n8n-core';

/**
 * Run by startup.cts in a process of its own, by n8n's Node: loads what is named with n8n's own loader, and prints the
 * milliseconds of processor time. The loader's own needs are loaded before, and with them zod and n8n-workflow, as when n8n starts.
 *
 * Arguments: n8n's start script, the package's folder, and one of its node files; without one, the whole package is loaded.
 */
async function load() {
	const [, , bin = '', folder = '', file] = process.argv;
	const requireFromN8n = process.getBuiltinModule('node:module').createRequire(bin);
	requireFromN8n('reflect-metadata');
	const { PackageDirectoryLoader } = requireFromN8n('n8n-core') as typeof n8nCore;
	const loader = new PackageDirectoryLoader(folder);
	const before = process.cpuUsage();
	if (file) loader.loadNodeFromFile(file);
	else await loader.loadAll();
	const { user, system } = process.cpuUsage(before);
	console.log((user + system) / 1000);
}

void load();
