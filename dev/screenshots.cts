import fs from 'node:fs';
import path from 'node:path';
import { buildByHand, buildByNode } from './fixtures/byHand.cts';
import { listExamples, readExample } from './fixtures/examples.cts';
import { N8nAgent, buildNodeTool } from './fixtures/n8nAgents.cts';
import { startPair, type Pair } from './fixtures/pair.cts';
import { startScriptedModel } from './fixtures/scriptedModel.cts';
import { chain, buildMediaGeneration } from './fixtures/workflows.cts';
import { createLog, logFailure } from './log.cts';
import { openEditor, type Editor } from './n8n/editor.cts';
import type { CredentialInput } from './n8n/n8n.cts';
import type { Workflow } from './n8n/workflow.cts';
import { root } from './pack.cts';

/** Shows on the screen what a picture is of. */
type Show = (editor: Editor) => Promise<void>;

/** The nodes that output a file of each kind. */
const FILES = { image: 'Edit the photo', video: 'Make it move' };
const EDIT = {
	model: 'beta2/image-edit',
	image: 'https://media.example/photo.png',
	prompt: 'Turn the sky into a starry night',
};
/** The margin around the nodes on a canvas, in pixels. Below, it has room for their names. */
const MARGIN = { x: 48, above: 32, below: 72 };
/** Hides what n8n lays over a canvas. */
const OVERLAYS =
	'.vue-flow__panel, .vue-flow__background, [class*="executionButtons"] { visibility: hidden }';
/** The name of the picture in an agent's chat. */
const AGENT_PICTURE = 'The photo by night';

/** Takes the pictures that README and docs show, in n8n's editor. */
async function main() {
	const log = createLog();
	const folder = path.resolve(process.argv[2] ?? path.join(root, 'docs', 'pictures'));
	fs.mkdirSync(folder, { recursive: true });
	await using pair = await startPair({ service: { taskSeconds: 1 }, n8n: { log } });
	await using model = await startScriptedModel([[{ prompt: EDIT.prompt }]], ([result = '']) => {
		const [link = ''] = /http[^"]+/.exec(result) ?? [];
		return `Here is your photo by night:\n\n![${AGENT_PICTURE}](${link})`;
	});
	const agent = await createAgent(pair, model.agentCredential);
	const filesId = await importFilesWorkflow(pair);

	const light: Record<string, Show> = {
		'any-model': showAnyModel,
		'finished-image': async (editor) => await showFile(editor, filesId, 'image'),
		'agents-chat': async (editor) => await showAgentsChat(editor, agent),
		trigger: showTrigger,
	};
	const canvases = new Map(Object.entries(listCanvases(pair)));
	for (const [name, workflow] of canvases) {
		const { id } = await pair.importWorkflow(workflow);
		light[name] = async (editor) => await editor.openWorkflow(id);
	}
	// The last light picture, because n8n keeps its logs open afterwards.
	light['finished-canvas'] = async (editor) => await showFinishedCanvas(editor, filesId);
	const dark: Record<string, Show> = {
		'finished-video': async (editor) => await showFile(editor, filesId, 'video'),
	};

	for (const [theme, pictures] of Object.entries({ light, dark })) {
		await using editor = await openEditor(pair.n8n, { theme: theme as 'light' | 'dark' });
		for (const [name, show] of Object.entries(pictures)) {
			await show(editor);
			await editor.page.mouse.move(0, 0);
			await showPublicAddresses(editor, pair);
			const file = path.join(folder, `${name}-normal-${theme}.png`);
			const nodes = canvases.has(name) ? await findNodes(editor) : undefined;
			await editor.page.screenshot({
				path: file,
				animations: 'disabled',
				...(nodes && { clip: nodes, style: OVERLAYS }),
			});
			log(path.relative(process.cwd(), file));
		}
	}
}

/** Lists the workflows whose canvas is shown, by the names of their pictures. */
function listCanvases({ service }: Pair): Record<string, Workflow> {
	const job = { url: service.url, token: '…', prompt: EDIT.prompt };
	return {
		'by-hand-before': buildByHand(job),
		'by-hand-after': buildByNode(job),
		...Object.fromEntries(listExamples().map((name) => [`example-${name}`, readExample(name)])),
	};
}

/** Replaces the addresses of this machine by public ones, such as readers have in their own n8n. */
async function showPublicAddresses({ page }: Editor, { n8n, service }: Pair) {
	const addresses = [
		[n8n.url, 'https://n8n.example.com'],
		[service.filesUrl, 'https://files.example.com'],
		[service.url, 'https://api.example.com'],
	];
	await page.evaluate((pairs) => {
		const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		while (texts.nextNode()) {
			const { currentNode } = texts;
			for (const [from = '', to = ''] of pairs)
				currentNode.nodeValue = String(currentNode.nodeValue).replaceAll(from, to);
		}
	}, addresses);
}

/** Finds the part of the window that the nodes of the open workflow take up, with their notes. */
async function findNodes({ page }: Editor) {
	const boxes = await page
		.locator('.vue-flow__node')
		.evaluateAll((nodes) => nodes.map((node) => node.getBoundingClientRect().toJSON() as DOMRect));
	const x = Math.min(...boxes.map((box) => box.left)) - MARGIN.x;
	const y = Math.min(...boxes.map((box) => box.top)) - MARGIN.above;
	const right = Math.max(...boxes.map((box) => box.right)) + MARGIN.x;
	const bottom = Math.max(...boxes.map((box) => box.bottom)) + MARGIN.below;
	return { x, y, width: right - x, height: bottom - y };
}

/** Imports a workflow whose nodes output a finished image, and a video of it. */
async function importFilesWorkflow(pair: Pair) {
	const move = {
		model: 'alpha-3.0/motion-control',
		image: 'data',
		video: 'https://media.example/motion.mp4',
	};
	const workflow = chain('From a photo to a video', [
		buildMediaGeneration(EDIT, { name: FILES.image }),
		buildMediaGeneration(move, { name: FILES.video }),
	]);
	return (await pair.importWorkflow(workflow)).id;
}

/** Makes an agent of n8n's Agents that has our node as its tool. */
async function createAgent({ n8n, credential }: Pair, model: CredentialInput) {
	const prompt = "={{ $fromAI('prompt', 'What to change', 'string') }}";
	const node = buildMediaGeneration({ ...EDIT, operation: 'generate', prompt });
	const credentials = { mediaGenerationApi: credential };
	const tool = buildNodeTool('Edit the photo', { ...node, credentials });
	return await N8nAgent.create(n8n, 'Photo studio', await n8n.createCredential(model), [tool]);
}

/** Shows the fields of a model that was chosen from the service's list. */
async function showAnyModel(editor: Editor) {
	await editor.openNewManualWorkflow();
	await editor.addNode('media', 'Media Generation', 'Generate a video or image');
	await editor.chooseFromSearch('anyModel', 'epsilon image', 'Epsilon 2 Image to Video');
	await editor.get('parameter-input-image_url').waitFor();
}

/** Shows n8n's preview of the file that a node of this workflow outputs. */
async function showFile(editor: Editor, workflowId: string, kind: keyof typeof FILES) {
	await editor.openWorkflow(workflowId);
	await editor.findNode(FILES[kind]).dblclick();
	await editor.executeStep();
	await editor.viewFile(kind);
}

/** Shows the canvas after a run, and below it, in n8n's logs, the picture that it made. */
async function showFinishedCanvas(editor: Editor, workflowId: string) {
	const { page } = editor;
	await editor.openWorkflow(workflowId);
	await editor.get('execute-workflow-button').first().click();
	await page.getByText('Workflow executed successfully').waitFor();
	const logs = editor.get('logs-panel');
	await editor.get('logs-overview-header').click();
	const result = logs.getByText(FILES.image, { exact: true }).first();
	const box = await logs.boundingBox();
	if (!box) throw new Error('The logs are not there');
	await page.mouse.move(box.x + box.width / 2, box.y + 1);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width / 2, box.y * 0.6, { steps: 8 });
	await page.mouse.up();
	// The button for details shows once an entry of the overview is clicked.
	await result.click();
	await logs.getByText('Details', { exact: true }).click();
	await result.click();
	await logs.getByTestId('ndv-view-binary-data').click();
	await logs.locator('img[src*="binary-data"]').waitFor();
}

/** Shows the chat with an agent of n8n's Agents, and in it the picture that it made. */
async function showAgentsChat(editor: Editor, agent: N8nAgent) {
	const { page } = editor;
	await page.goto(`${editor.url}/projects/${agent.projectId}/agents/${agent.id}/preview`, {
		waitUntil: 'networkidle',
	});
	await page.getByPlaceholder('Message Photo studio').fill('Make my photo a starry night');
	await editor.get('instance-ai-send-button').click();
	const picture = page.getByRole('img', { name: AGENT_PICTURE });
	await picture.waitFor();
	await picture.evaluate(async (image: HTMLImageElement) => await image.decode());
}

/** Shows the trigger's panel, with its URLs and its help unfolded. */
async function showTrigger(editor: Editor) {
	await editor.openNewWorkflow();
	await editor.addNode('media', 'Media Generation', 'On task completed');
	await editor.panel.getByText('Webhook URLs', { exact: true }).first().click();
	await editor.panel.getByText('When will this node trigger my flow?').click();
}

main().catch(logFailure);
