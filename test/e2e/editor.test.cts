import { createEndedTask } from '../../dev/fixtures/callbacks.cts';
import {
	CREDENTIAL_TYPE,
	startPackedN8n,
	TOKEN,
	WEBHOOK_SECRET,
} from '../../dev/fixtures/pair.cts';
import { makeFirstPicture } from '../../dev/fixtures/firstPicture.cts';
import { chain, mediaGeneration } from '../../dev/fixtures/workflows.cts';
import { openEditor, type Editor } from '../../dev/n8n/editor.cts';
import type { N8n } from '../../dev/n8n/n8n.cts';
import type { WorkflowNode } from '../../dev/n8n/workflow.cts';
import { startService, type Service } from '../../dev/service/index.cts';

const TITLE = 'Media Generation';
const WAIT_ACTION = 'Generate a video or image';

let n8n: N8n;
let service: Service;
let editor: Editor;

beforeAll(async () => {
	service = await startService({ token: TOKEN, webhookSecret: WEBHOOK_SECRET, taskSeconds: 1 });
	n8n = await startPackedN8n();
	editor = await openEditor(n8n);
});

afterAll(async () => {
	await editor?.close();
	await n8n?.stop();
	await service?.close();
});

// One person's path: each step goes on from where the one before it ended.
describe('a person at the editor', () => {
	it('adds the credential, which says whether it works', async () => {
		await editor.openNewCredential('Media Generation API');
		await editor.fill('baseUrl', service.url);
		await editor.fill('accessToken', 'no-such-token');
		await editor.fill('webhookSecret', WEBHOOK_SECRET);
		await editor.get('credential-save-button').click();
		await editor.credential.getByText('More details').click();
		await editor.credential.getByText('does not accept the access token').waitFor();

		await editor.fill('accessToken', TOKEN);
		await editor.get('credential-save-button').click();
		await editor.credential.getByText('Connection tested successfully').waitFor();

		expect(await n8n.listCredentials()).toMatchObject([{ type: CREDENTIAL_TYPE }]);
	});

	it('comes to a first picture in few steps', async () => {
		const sample = `${service.resultsUrl}/sample.png`;
		const edit = await makeFirstPicture(editor, async (hand) => {
			const model = editor.page.getByRole('option').getByText('Beta2 Image Edit');
			await hand.choose(editor.get('parameter-input-model'), model);
			await hand.fill('prompt', 'Make it snow');
			await hand.fill('image', sample);
		});
		expect(edit).toEqual({ clicks: 10, texts: 3 });
		const fromText = await makeFirstPicture(editor, async (hand) => {
			const list = editor.get('resource-locator-customModel').getByTestId('rlc-input');
			const model = editor.get('rlc-item').filter({ hasText: 'Epsilon Canvas Text to Image' });
			await hand.choose(list, model);
			await hand.fill('prompt', 'A red fox in snow');
		});
		expect(fromText).toEqual({ clicks: 9, texts: 2 });
	});

	it('finds the node by what it does', async () => {
		await editor.openNewManualWorkflow();
		for (const words of [
			'video',
			'image',
			'photo',
			'create picture',
			'ai video',
			'text to video',
		]) {
			await editor.search('no node is called this');
			await editor.get('node-creator-no-results').waitFor();
			await editor.search(words);
			await editor.findEntry(TITLE).waitFor();
		}
	});

	it('is shown which required fields are empty, in lists too', async () => {
		await editor.addNode('media', TITLE, WAIT_ACTION);
		await editor.executeStep();
		await editor.get('parameter-issues').first().waitFor();
		for (const model of ['Delta Reference to Video', 'Gamma V6 Reference to Video']) {
			await editor.choose('model', model);
			await editor.get('parameter-issues').waitFor();
		}
	});

	it('runs the node, reads what it waits for, and looks at the finished image', async () => {
		await editor.choose('resource', 'Video or Image');
		await editor.choose('operation', 'Generate');
		await editor.choose('model', 'Beta2 Image Edit');
		await editor.fill('image', `${service.resultsUrl}/sample.png`);
		await editor.fill('prompt', 'Make it snow');
		await editor.executeStep();
		await editor.output.getByText('The execution sleeps.').waitFor();
		await editor.viewFile('image');
		await editor.closePanel();
		const label = await editor.findNode(WAIT_ACTION).innerText();
		expect(label).toContain('Beta2 Image Edit');
	});

	/** Opens a saved workflow with our node alone, and runs it from its panel. */
	async function executeSaved(node: WorkflowNode) {
		const [credential] = await n8n.listCredentials();
		const { id } = await n8n.importWorkflow(chain('Saved', [node]), {
			credentials: { ...(credential && { [CREDENTIAL_TYPE]: credential }) },
		});
		await editor.openWorkflow(id);
		await editor.findNode(node.name).dblclick();
		await editor.executeStep();
	}

	it('reads at the output of a node that kept asking that its task failed', async () => {
		const image = `${service.resultsUrl}/sample.png`;
		const failing = { model: 'beta2/image-edit', image, prompt: '#fail', waitFor: 'polling' };
		await executeSaved(mediaGeneration(failing, { name: "The client's photo" }));
		await editor.output.getByText('The task failed').waitFor();
	});

	it('looks at a finished video', async () => {
		const image = `${service.resultsUrl}/sample.png`;
		const video = `${service.resultsUrl}/sample.mp4`;
		await executeSaved(mediaGeneration({ model: 'alpha-3.0/motion-control', image, video }));
		await editor.viewFile('video');
	});

	it('maps the output of a task before the first run', async () => {
		await editor.openNewManualWorkflow();
		await editor.addNode('media', TITLE, 'Start a video or image without waiting');
		await editor.closePanel();
		await editor.addNode('media', TITLE, 'Get the status of a video or image');

		const fields = editor.get('run-data-schema-item');
		await fields.filter({ hasText: 'taskId' }).first().waitFor();
		expect(await fields.allInnerTexts()).toEqual(
			expect.arrayContaining(['taskId', 'status', 'resultUrls', 'resultUrls[0]', 'model']),
		);
	});

	it('reads in the trigger which URL goes where, publishes it, and sees an execution come in', async () => {
		await editor.openNewWorkflow();
		await editor.addNode('media', TITLE, 'On task completed');
		const { panel } = editor;
		await panel.getByText('Webhook URLs', { exact: true }).first().click();
		await panel.getByText(`${n8n.url}/webhook-test/`).waitFor();
		await panel.getByText('Production URL', { exact: true }).first().click();
		const callBackUrl = await panel.getByText(`${n8n.url}/webhook/`).innerText();
		await panel.getByText('of the Media Generation node that creates the tasks').waitFor();
		await editor.closePanel();

		expect(await editor.publish()).toContain('start this workflow when they end');
		await createEndedTask(service, { prompt: '', callBackUrl });
		await editor.page.getByText('Executions', { exact: true }).click();
		await editor.get('execution-time').first().waitFor();
	});
});
