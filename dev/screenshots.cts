const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { createLog } = require('./log.cts');
const { openEditor } = require('./n8n/editor.cts');
const { startN8n } = require('./n8n/n8n.cts');
const { pack, root } = require('./pack.cts');
const { startService } = require('./service');

/** @typedef {import('./n8n/editor.cts').Editor} Editor */

const TYPE = 'n8n-nodes-media-generation.mediaGeneration';
const TOKEN = 'dev-token';
const WEBHOOK_SECRET = 'dev-webhook-key';

/** What the pictures are made in: as on a desk, and as beside another window. */
const LOOKS = /** @type {const} */ [
	{ name: 'normal', width: 1440, height: 900 },
	{ name: 'narrow', width: 900, height: 700 },
];
const THEMES = /** @type {const} */ ['light', 'dark'];

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
	const credential = await n8n.createCredential({
		name: 'Media Generation account',
		type: 'mediaGenerationApi',
		data: { baseUrl: service.url, accessToken: TOKEN, webhookSecret: WEBHOOK_SECRET },
	});
	const credentials = { mediaGenerationApi: credential };
	const examples = await importExamples(n8n, credentials);
	const media = await n8n.importWorkflow(mediaWorkflow(service.resultsUrl), { credentials });
	const [action] = (await n8n.nodeTypes('n8n-nodes-media-generation')).filter(
		({ name }) => name === TYPE,
	);
	for (const { name, width, height } of LOOKS) {
		for (const theme of THEMES) {
			const editor = await openEditor(n8n, { width, height, theme });
			stops.push(() => editor.close());
			/** @param {string} what */
			const picture = async (what) => {
				await editor.page.mouse.move(0, 0);
				const file = path.join(folder, `${what}-${name}-${theme}.png`);
				await editor.page.screenshot({ path: file, animations: 'disabled' });
				log(path.relative(process.cwd(), file));
			};
			await nodeList(editor, picture);
			await actionPanels(editor, picture, action?.properties);
			await emptyFields(editor, picture);
			await finishedRun(editor, picture);
			await finishedFiles(editor, picture, media.id);
			await trigger(editor, picture);
			await credentialForm(editor, picture);
			for (const example of examples) {
				await editor.openWorkflow(example.id);
				await picture(`example-${example.name}`);
			}
			await editor.close();
		}
	}
}

/** @typedef {(what: string) => Promise<void>} Picture */
/** @typedef {import('./n8n/n8n.cts').N8n} N8n */
/** @typedef {Record<string, import('./n8n/n8n.cts').Credential>} Credentials */

/**
 * @param {N8n} n8n
 * @param {Credentials} credentials
 */
async function importExamples(n8n, credentials) {
	const folder = path.join(root, 'examples');
	const examples = [];
	for (const file of fs.readdirSync(folder)) {
		const workflow = JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8'));
		const { id } = await n8n.importWorkflow(workflow, { credentials });
		examples.push({ id, name: path.parse(file).name });
	}
	return examples;
}

/**
 * A workflow whose last node gives out a video and an image.
 * @param {string} resultsUrl
 */
function mediaWorkflow(resultsUrl) {
	/** @type {(name: string, type: string, x: number, parameters: object) => import('./n8n/workflow.cts').WorkflowNode} */
	const node = (name, type, x, parameters) => ({
		id: name,
		name,
		type,
		typeVersion: 1,
		position: [x, 0],
		parameters,
		...(type === TYPE && { credentials: { mediaGenerationApi: { id: null, name: '' } } }),
	});
	return {
		name: 'A video and its first frame',
		nodes: [
			node('Start', 'n8n-nodes-base.manualTrigger', 0, {}),
			node('Create task and wait', TYPE, 220, {
				operation: 'createAndWait',
				image: `${resultsUrl}/subject.png`,
				video: `${resultsUrl}/motion.mp4`,
			}),
			node('Download files', TYPE, 440, {
				operation: 'download',
				files: ['firstFrame', 'result'],
			}),
		],
		connections: {
			Start: { main: [[{ node: 'Create task and wait', type: 'main', index: 0 }]] },
			'Create task and wait': { main: [[{ node: 'Download files', type: 'main', index: 0 }]] },
		},
	};
}

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
	const options = /** @type {Array<{ name: string, value: string }>} */ property?.options ?? [];
	return options.filter(({ value }) => !value.startsWith('__'));
}

/**
 * What n8n says under required fields that are left empty.
 * @param {Editor} editor
 * @param {Picture} picture
 */
async function emptyFields(editor, picture) {
	await editor.newManualWorkflow();
	await editor.addNode('media', 'Media Generation', 'Create task and wait');
	await editor.executeStep();
	await editor.get('parameter-issues').first().waitFor();
	await picture('empty-fields');
}

/**
 * The panel and the canvas after a run.
 * @param {Editor} editor
 * @param {Picture} picture
 */
async function finishedRun(editor, picture) {
	await editor.newManualWorkflow();
	await editor.addNode('image edit', 'Media Generation', 'Create task and wait');
	await editor.choose('model', 'Beta2 Image Edit');
	await editor.fill('image', 'https://media.example/photo.png');
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
 * The files that Download gives out, and n8n's preview of each.
 * @param {Editor} editor
 * @param {Picture} picture
 * @param {string} workflowId
 */
async function finishedFiles(editor, picture, workflowId) {
	await editor.openWorkflow(workflowId);
	await editor.node('Download files').dblclick();
	await editor.executeStep();
	await editor.get('ndv-view-binary-data').first().waitFor();
	await picture('files');
	for (const [index, kind] of /** @type {const} */ ['image', 'video'].entries()) {
		await editor.get('ndv-view-binary-data').nth(index).click();
		await editor.preview(kind);
		await picture(`files-${kind}`);
		await editor.page.getByText('Back to list').click();
	}
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
async function credentialForm(editor, picture) {
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
