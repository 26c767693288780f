const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { createLog } = require('./log.cts');
const { startN8n } = require('./n8n/n8n.cts');
const { freePort } = require('./n8n/port.cts');
const { cacheFolder, provideN8n, tryLock } = require('./n8n/provide.cts');
const { npm } = require('./npm.cts');
const { pack, root } = require('./pack.cts');
const { startService } = require('./service');
const { commandLineSettings } = require('./service/settings');

/** @typedef {Awaited<ReturnType<typeof startN8n>>} N8n */
/** @typedef {Awaited<ReturnType<typeof startService>>} Service */
/** @typedef {import('./n8n/workflow.cts').Workflow} Workflow */
/** @typedef {{ id: string, workflow: Workflow, text: string }} Example */

const CREDENTIAL_TYPE = 'mediaGenerationApi';
const TRIGGER_TYPE = 'n8n-nodes-media-generation.mediaGenerationTrigger';
const TOKEN = 'dev-token';
const WEBHOOK_SECRET = 'dev-webhook-key';
const SERVICE_PORT = 8787;
const N8N_PORT = 5678;

/** The hosts that the examples name, so that a person who imports one sees what to replace. */
const EXAMPLE_N8N = 'https://your-n8n.example';
const EXAMPLE_MEDIA = 'https://media.example';

const log = createLog();
/** @type {Array<() => Promise<unknown> | void>} */
const stops = [];

/** Starts n8n with this package, the emulator of the task service, and the examples. */
async function main() {
	const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
	for (const signal of ['SIGINT', 'SIGTERM']) {
		process.once(signal, () => void stop().finally(() => process.exit()));
	}
	const folder = values.check ? undefined : keptFolder();
	const { n8n, service } = await startAll(folder);
	const examples = await importExamples(n8n, service);
	if (values.check) {
		await checkOneRound(n8n, examples);
		await stop();
		return;
	}
	const { create, trigger } = pair(examples);
	console.log(`
n8n is ready: ${n8n.url}
  E-mail    ${n8n.owner.email}
  Password  ${n8n.owner.password}

To see a task go round: open the workflow "${create.workflow.name}" and press "Execute workflow".
Some seconds later the finished task is in the Executions of the workflow "${trigger.workflow.name}".

The emulator of the service is at ${service.url}, its files at ${service.resultsUrl}. Ctrl-C ends both.
`);
}

/** The user folder that keeps workflows and executions between runs; one `npm start` at a time uses it. */
function keptFolder() {
	const folder = path.join(cacheFolder(), 'start');
	fs.mkdirSync(folder, { recursive: true });
	const lock = `${folder}.lock`;
	if (!tryLock(lock)) {
		throw new Error(`npm start runs already, as process ${fs.readFileSync(lock, 'utf8')}`);
	}
	stops.push(() => fs.rmSync(lock, { force: true }));
	return folder;
}

/** @param {string | undefined} folder */
async function startAll(folder) {
	log('Building the package');
	await npm(['run', 'build'], { cwd: root, what: 'npm run build', log });
	await provideN8n({ log });
	const packed = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-start-'));
	stops.push(() => fs.rmSync(packed, { recursive: true, force: true }));
	const { tarball } = await pack(packed);

	log('Starting the emulator of the service, and n8n');
	const service = await startService({
		...commandLineSettings,
		port: await servicePort(),
		token: TOKEN,
		webhookSecret: WEBHOOK_SECRET,
	});
	stops.push(service.close);
	const n8n = await startN8n({ tarball, folder, port: N8N_PORT, log });
	stops.push(() => n8n.stop());
	return { n8n, service };
}

/** The preferred port if it and the next one, which serves the files, are free; else any. */
async function servicePort() {
	for (const port of [SERVICE_PORT, SERVICE_PORT + 1]) {
		if ((await freePort(port)) !== port) return 0;
	}
	return SERVICE_PORT;
}

/**
 * Imports every example, in place of a workflow of its name, and activates those with our trigger.
 * @param {N8n} n8n
 * @param {Service} service
 */
async function importExamples(n8n, service) {
	const credential = await credentialFor(n8n, service);
	const present = await n8n.workflows();
	const folder = path.join(root, 'examples');
	const files = fs.readdirSync(folder).filter((file) => file.endsWith('.json'));
	/** @type {Example[]} */
	const examples = [];
	for (const file of files) {
		const text = fs
			.readFileSync(path.join(folder, file), 'utf8')
			.replaceAll(EXAMPLE_N8N, n8n.url)
			.replaceAll(EXAMPLE_MEDIA, service.resultsUrl);
		/** @type {Workflow} */
		const workflow = JSON.parse(text);
		for (const { id, name } of present) {
			if (name === workflow.name) await n8n.deleteWorkflow(id);
		}
		const { id } = await n8n.importWorkflow(workflow, {
			credentials: { [CREDENTIAL_TYPE]: credential },
		});
		if (triggerOf(workflow)) await n8n.activate(id);
		examples.push({ id, workflow, text });
	}
	log(`Imported ${examples.length} examples`);
	return examples;
}

/**
 * @param {N8n} n8n
 * @param {Service} service
 */
async function credentialFor(n8n, service) {
	const credential = {
		name: 'Media Generation (emulator)',
		type: CREDENTIAL_TYPE,
		data: {
			baseUrl: service.url,
			accessToken: TOKEN,
			webhookSecret: WEBHOOK_SECRET,
			previousWebhookSecret: '',
			uploadBaseUrl: '',
			customEndpoints: false,
		},
	};
	const present = (await n8n.credentials()).find(({ name }) => name === credential.name);
	return present
		? await n8n.updateCredential(present.id, credential)
		: await n8n.createCredential(credential);
}

/** @param {Workflow} workflow */
function triggerOf({ nodes }) {
	return nodes.find(({ type }) => type === TRIGGER_TYPE);
}

/**
 * The example with a trigger whose URL another example gives as callback URL, and that other one.
 * @param {Example[]} examples
 */
function pair(examples) {
	for (const trigger of examples) {
		const webhookId = triggerOf(trigger.workflow)?.webhookId;
		const create = examples.find(
			(example) => webhookId && example !== trigger && example.text.includes(webhookId),
		);
		if (create) return { create, trigger };
	}
	throw new Error('No example creates a task whose callback goes to the trigger of another one');
}

/**
 * Creates a task, waits until its callback has started the trigger's workflow, and prints the finished task.
 * @param {N8n} n8n
 * @param {Example[]} examples
 */
async function checkOneRound(n8n, examples) {
	const { create, trigger } = pair(examples);
	const run = await n8n.waitForExecution(await n8n.run(create.id));
	if (run.status !== 'success') {
		throw new Error(`"${create.workflow.name}" ended with: ${run.error()?.message}`);
	}
	const [received] = await n8n.waitForExecutions({ workflowId: trigger.id, count: 1 });
	const task = received?.items(triggerOf(trigger.workflow)?.name ?? '')[0];
	console.log(JSON.stringify(task, null, '\t'));
	if (received?.status !== 'success' || task?.status !== 'completed') {
		throw new Error(`"${trigger.workflow.name}" did not get a completed task`);
	}
	log('One task went round');
}

/** Ends what was started, the last first. */
async function stop() {
	for (const end of stops.splice(0).reverse()) await end();
}

main().catch(async (error) => {
	console.error(error.message);
	process.exitCode = 1;
	await stop();
});
