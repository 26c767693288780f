import fs from 'node:fs';
import path from 'node:path';
import getPort from 'get-port';
import { lock } from 'proper-lockfile';
import { listExamples, readExample } from './fixtures/examples.cts';
import { CREDENTIAL_TYPE, startPair, type Pair } from './fixtures/pair.cts';
import { NODE_TYPE } from './fixtures/workflows.cts';
import { buildGuide } from './guide.cts';
import { createLog, logFailure } from './log.cts';
import { WITHOUT_CODE, WITHOUT_EDITOR } from './n8n/process.cts';
import { findCacheFolder, provideN8n } from './n8n/provide.cts';
import { runCommand } from './command.cts';
import { root } from './pack.cts';

const SERVICE_PORT = 8787;
const N8N_PORT = 5678;

const log = createLog();
let pair: Pair | undefined;
const stop = async () => await pair?.stop();

/** Starts n8n with this package, the emulator of the task service, and the examples. With `--check`, it then ends at once. */
async function main() {
	const isCheck = process.argv.includes('--check');
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
		process.once(signal, () => void stop().finally(() => process.exit()));
	const folder = isCheck ? undefined : await lockKeptFolder();
	if (!isCheck) await build();
	await provideN8n(log);

	log('Starting the emulator of the service, and n8n');
	pair = await startPair({
		// The service's files are at the next port.
		service: {
			taskSeconds: 2,
			callbackRetrySeconds: [5, 15, 60],
			port: await getPort({ port: SERVICE_PORT }),
		},
		n8n: {
			folder,
			port: N8N_PORT,
			log,
			env: isCheck ? { ...WITHOUT_EDITOR, ...WITHOUT_CODE } : {},
		},
		credentialName: 'Media Generation (emulator)',
	});
	const ids = await importExamples(pair);
	if (isCheck) return await stop();
	console.log(buildGuide(pair, ids));
}

/** Builds the package. What the builders print is shown only if they fail. */
async function build() {
	log('Building the package');
	await runCommand('npm', ['run', 'build'], { cwd: root, what: 'building the package', log });
}

/** Locks the user folder that keeps workflows and executions, because only one `npm start` at a time may use it. @returns its path */
async function lockKeptFolder() {
	const folder = path.join(findCacheFolder(), 'start');
	fs.mkdirSync(folder, { recursive: true });
	// The lock of a killed process is taken over after 5 seconds.
	const retries = { retries: 6, factor: 1, minTimeout: 1_000 };
	await lock(folder, { stale: 5_000, retries }).catch((cause: unknown) => {
		throw new Error('npm start runs already', { cause });
	});
	return folder;
}

/** Nodes of other accounts: n8n publishes no workflow without their credentials. */
const OTHER_ACCOUNT = /\.(telegram|google)/;

/**
 * Imports every example, in place of a workflow of its name. Activates those that have our trigger and need no other
 * account.
 * @returns their IDs, by the names of their files
 */
async function importExamples({ n8n, service, credential }: Pair) {
	const present = await n8n.request<Array<{ id: string; name: string }>>(
		'GET',
		'/rest/workflows?filter={"isArchived":false}',
	);
	const ids: Record<string, string> = {};
	for (const name of listExamples()) {
		const workflow = readExample(name, { n8n: n8n.url, media: service.filesUrl });
		const { id } = await n8n.importWorkflow(workflow, {
			credentials: { [CREDENTIAL_TYPE]: credential },
			replaces: present.find((saved) => saved.name === workflow.name)?.id,
		});
		const types = workflow.nodes.map(({ type }) => type);
		const isOfAccount = types.some((type) => OTHER_ACCOUNT.test(type));
		if (types.includes(`${NODE_TYPE}Trigger`) && !isOfAccount) await n8n.activate(id);
		ids[name] = id;
	}
	log('Imported the examples');
	return ids;
}

main().catch(async (error: Error) => {
	logFailure(error);
	await stop();
});
