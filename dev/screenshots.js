const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { createLog } = require('./log');
const { openEditor } = require('./n8n/editor');
const { startN8n } = require('./n8n/n8n');
const { pack, root } = require('./pack');
const { startService } = require('./service');

/** @typedef {import('./n8n/editor').Editor} Editor */

const TYPE = 'n8n-nodes-media-generation.mediaGeneration';
const TOKEN = 'dev-token';
const WEBHOOK_SECRET = 'dev-webhook-key';

/** What the pictures are made in: as on a desk, and as beside another window. */
const LOOKS = /** @type {const} */ ([
	{ name: 'normal', width: 1440, height: 900 },
	{ name: 'narrow', width: 900, height: 700 },
]);
const THEMES = /** @type {const} */ (['light', 'dark']);

const log = createLog();
/** @type {Array<() => Promise<unknown> | void>} */
const stops = [];

/** Makes pictures of everything that a person sees of the package in n8n's editor. */
async function main() {
	const folder = path.resolve(process.argv[2] ?? path.join(root, 'docs', 'pictures'));
	fs.mkdirSync(folder, { recursive: true });
	const packed = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-screenshots-'));
	stops.push(() => fs.rmSync(packed, { recursive: true, force: true }));
	const { tarball } = await pack(packed);
	const service = await startService({
		token: TOKEN,
		webhookSecret: WEBHOOK_SECRET,
		taskSeconds: 1,
	});
	stops.push(service.close);
	const n8n = await startN8n({ tarball, log });
	stops.push(() => n8n.stop());
	await n8n.createCredential({
		name: 'Media Generation account',
		type: 'mediaGenerationApi',
		data: { baseUrl: service.url, accessToken: TOKEN, webhookSecret: WEBHOOK_SECRET },
	});
	const [action] = (await n8n.nodeTypes('n8n-nodes-media-generation')).filter(
		({ name }) => name === TYPE,
	);
	for (const { name, width, height } of LOOKS) {
		for (const theme of THEMES) {
			const editor = await openEditor(n8n, { width, height, theme });
			stops.push(() => editor.close());
			/** @param {string} what */
			const picture = async (what) => {
				const file = path.join(folder, `${what}-${name}-${theme}.png`);
				await editor.page.screenshot({ path: file, animations: 'disabled' });
				log(path.relative(process.cwd(), file));
			};
			await nodeList(editor, picture);
			await actionPanels(editor, picture, action?.properties);
			await finishedRun(editor, picture, service.resultsUrl);
			await trigger(editor, picture);
			await credential(editor, picture);
		}
	}
}

/** @typedef {(what: string) => Promise<void>} Picture */

/**
 * @param {Editor} editor
 * @param {Picture} picture
 */
async function nodeList(editor, picture) {
	await editor.newManualWorkflow();
	await editor.search('video');
	await editor.entry('Media Generation').waitFor();
	await picture('node-list');
	await editor.entry('Media Generation').click();
	await editor.entry('Create task and wait').waitFor();
	await picture('node-actions');
}

/**
 * The panel of each operation, and of Create and Wait for each model.
 * @param {Editor} editor
 * @param {Picture} picture
 * @param {import('n8n-workflow').INodeProperties[]} properties
 */
async function actionPanels(editor, picture, properties) {
	await editor.newManualWorkflow();
	await editor.addNode('media', 'Media Generation', 'Create task and wait');
	for (const model of optionsOf(properties, 'model')) {
		await editor.choose('model', model.name);
		await picture(`create-and-wait-${model.value.replaceAll(/\W/g, '-')}`);
	}
	for (const resource of optionsOf(properties, 'resource')) {
		await editor.choose('resource', resource.name);
		for (const operation of optionsOf(properties, 'operation', resource.value)) {
			await editor.choose('operation', operation.name);
			await picture(`${resource.value}-${operation.value}`);
		}
	}
}

/**
 * What a list of the action node offers; n8n's own entry, Custom API Call, is left out.
 * @param {import('n8n-workflow').INodeProperties[]} properties
 * @param {string} name
 * @param {string} [resource]
 */
function optionsOf(properties, name, resource) {
	const property = properties.find(
		({ name: own, displayOptions }) =>
			own === name && (!resource || displayOptions?.show?.resource?.includes(resource)),
	);
	const options = /** @type {Array<{ name: string, value: string }>} */ (property?.options ?? []);
	return options.filter(({ value }) => !value.startsWith('__'));
}

/**
 * The panel and the canvas after a run.
 * @param {Editor} editor
 * @param {Picture} picture
 * @param {string} resultsUrl
 */
async function finishedRun(editor, picture, resultsUrl) {
	await editor.newManualWorkflow();
	await editor.addNode('image edit', 'Media Generation', 'Create task and wait');
	await editor.choose('model', 'Beta2 Image Edit');
	await editor.fill('image', `${resultsUrl}/photo.png`);
	await editor.fill('prompt', 'Turn the sky into a starry night');
	await editor.executeStep();
	await editor.output.getByText('The execution sleeps.').waitFor();
	await picture('waiting-panel');
	await editor.finished();
	await picture('finished-panel');
	await editor.closePanel();
	await picture('finished-canvas');
}

/**
 * @param {Editor} editor
 * @param {Picture} picture
 */
async function trigger(editor, picture) {
	await editor.newWorkflow();
	await editor.addNode('media', 'Media Generation', 'On task completed');
	await editor.panel.getByText('Webhook URLs', { exact: true }).first().click();
	await editor.panel.getByText('When will this node trigger my flow?').click();
	await picture('trigger');
	await editor.get('trigger-execute-button').first().click();
	await editor.get('trigger-listening').first().waitFor();
	await picture('trigger-listening');
	await editor.page.getByRole('button', { name: 'Stop Listening' }).first().click();
}

/**
 * @param {Editor} editor
 * @param {Picture} picture
 */
async function credential(editor, picture) {
	await editor.newCredential('Media Generation API');
	await picture('credential');
}

main()
	.catch((error) => {
		console.error(error.message);
		process.exitCode = 1;
	})
	.finally(async () => {
		for (const end of stops.splice(0).reverse()) await end();
	});
