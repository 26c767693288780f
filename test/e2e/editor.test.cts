import type { Locator } from 'playwright-core';
import { createTask } from '../../dev/fixtures/callbacks.cts';
import { buildDocument } from '../../dev/service/catalogue.cts';
import { CREDENTIAL_TYPE, TOKEN, WEBHOOK_SECRET } from '../../dev/fixtures/pair.cts';
import { chain, generate, NODE, buildPrompts } from '../../dev/fixtures/workflows.cts';
import { openEditor, type Editor } from '../../dev/n8n/editor.cts';
import { readMedia } from '../media/corpus.cts';
import { CREATE_PATH, DETAILS_PATH, usePair } from './support.cts';

const TITLE = 'Media Generation';
const WAIT_ACTION = 'Generate a video or image';

const pair = usePair({
	service: { taskSeconds: 1 },
	// A new user's n8n: it has one credential, and an editor.
	env: { N8N_DISABLE_UI: 'false' },
	keeps: true,
});
let editor: Editor;

beforeAll(async () => {
	// A person adds the credential by hand.
	await pair.n8n.request('DELETE', `/rest/credentials/${pair.credential.id}`);
	editor = await openEditor(pair.n8n);
});
afterAll(async () => await editor?.close());

/** A person's hand on the mouse and the keyboard. A text goes where the last click was. */
class Hand {
	readonly steps = { clicks: 0, texts: 0 };

	async click(target: Locator) {
		await target.click();
		this.steps.clicks++;
	}

	async type(text: string) {
		await editor.page.keyboard.insertText(text);
		this.steps.texts++;
	}

	async fill(parameter: string, text: string) {
		await this.click(editor.get(`parameter-input-${parameter}`).locator('input, textarea'));
		await this.type(text);
	}

	async choose(list: Locator, entry: Locator) {
		await this.click(list);
		await this.click(entry.filter({ visible: true }).first());
	}

	async chooseModel(name: string) {
		const list = editor.get('resource-locator-anyModel').getByTestId('rlc-input');
		await this.choose(list, editor.get('rlc-item').filter({ hasText: name }));
	}

	/** Opens the node list, and chooses an entry: of what is found for these words, or without words of the first view. */
	async chooseNode(opener: string, words: string, entry: string) {
		await this.click(editor.get(opener));
		await editor.get('node-creator-search-bar').waitFor();
		if (words) await this.type(words);
		await this.click(editor.findEntry(entry));
	}
}

// One person's path: each step goes on from where the one before it ended.
describe('a person at the editor', () => {
	it('adds the credential, which says whether it works', async () => {
		await editor.openNewCredential('Media Generation API');
		await editor.fill('baseUrl', pair.service.url);
		await editor.fill('accessToken', 'no-such-token');
		await editor.fill('webhookSecret', WEBHOOK_SECRET);
		await editor.get('credential-save-button').click();
		await editor.credential.getByText('More details').click();
		await editor.credential.getByText('does not accept the access token').waitFor();

		await editor.fill('accessToken', TOKEN);
		await editor.get('credential-save-button').click();
		await editor.credential.getByText('Connection tested successfully').waitFor();

		expect(await pair.n8n.listCredentials()).toMatchObject([{ type: CREDENTIAL_TYPE }]);
	});

	it('comes to a first picture in few steps', async () => {
		await editor.openNewWorkflow();
		const hand = new Hand();
		const entry = editor.findEntry(WAIT_ACTION);
		await hand.chooseNode('canvas-plus-button', 'image', TITLE);
		// On an empty canvas, n8n folds the actions of a node that has a trigger beside it.
		const folded = editor.list.getByText(/^Actions \(\d+\)$/);
		await entry.or(folded).first().waitFor();
		if (!(await entry.isVisible())) await hand.click(folded);
		await hand.click(entry);
		await editor.panel.waitFor();
		await hand.chooseModel('Epsilon Canvas Text to Image');
		await hand.fill('prompt', 'A red fox in snow');
		await hand.click(editor.get('node-execute-button'));
		expect(hand.steps).toEqual({ clicks: 8, texts: 2 });
		await editor.output.getByTestId('ndv-view-binary-data').first().click();
		await editor.waitForFile('image');
	});

	it('comes from the photo of a form to a video in few steps', async () => {
		const hand = new Hand();
		await editor.openNewWorkflow();
		await hand.chooseNode('canvas-plus-button', '', 'On form submission');
		await editor.panel.waitFor();
		await hand.fill('formTitle', 'Your photo');
		await hand.click(editor.get('fixed-collection-add'));
		await hand.fill('fieldLabel', 'Product photo');
		const file = editor.page.getByRole('option').getByText('File', { exact: true });
		await hand.choose(editor.get('parameter-input-fieldType'), file);
		await hand.click(editor.get('ndv-close-button').first());
		await hand.chooseNode('canvas-handle-plus', 'media', TITLE);
		await hand.click(editor.findEntry(WAIT_ACTION));
		await editor.panel.waitFor();
		await hand.chooseModel('Epsilon 2 Image to Video');
		await hand.fill('prompt', 'It turns around');
		await hand.fill('image_url', 'Product photo');
		expect(hand.steps).toEqual({ clicks: 15, texts: 5 });

		await editor.closePanel();
		await editor.publish();
		const workflowId = /workflow\/(\w+)/.exec(editor.page.url())?.[1] ?? '';
		const { nodes } = await pair.n8n.getWorkflow(workflowId);
		const body = new FormData();
		body.set('field-0', new Blob([readMedia('plain.png')], { type: 'image/png' }), 'plain.png');
		const url = `${pair.n8n.url}/form/${nodes[0]?.webhookId}`;
		expect((await fetch(url, { method: 'POST', body })).status).toBe(200);
		const [execution] = await pair.n8n.waitForExecutions({ workflowId, count: 1 });
		expect(execution?.getItems(WAIT_ACTION)).toMatchObject([{ status: 'completed' }]);
		const [upload] = [...pair.service.uploads.values()].slice(-1);
		expect(pair.listTasks().at(-1)?.input).toEqual({
			prompt: 'It turns around',
			image_url: upload?.downloadUrl,
		});
	});

	it('reads in the trigger which URL goes where, publishes it, and sees an execution come in', async () => {
		await editor.openNewWorkflow();
		await editor.addNode('media', TITLE, 'On task completed');
		const { panel } = editor;
		await panel.getByText('Webhook URLs', { exact: true }).first().click();
		await panel.getByText(`${pair.n8n.url}/webhook-test/`).waitFor();
		await panel.getByText('Production URL', { exact: true }).first().click();
		const callBackUrl = await panel.getByText(`${pair.n8n.url}/webhook/`).innerText();
		await panel.getByText('Copy a URL from Webhook URLs').waitFor();
		await editor.closePanel();

		expect(await editor.publish()).toContain('Workflow published');
		await createTask(pair.service, '', callBackUrl);
		await editor.page.getByText('Executions', { exact: true }).click();
		await editor.get('execution-time').first().waitFor();
	});
});

/** Opens the panel of our node, in a workflow of its own that polls for these prompts. */
async function openPanel(
	texts: string[],
	{ options, ...parameters }: Record<string, unknown> = {},
) {
	const node = generate({
		...parameters,
		options: { howToWait: 'polling', ...(options as object) },
	});
	const credential = await pair.createCredential({});
	const { id } = await pair.importWorkflow(chain('Panel', [buildPrompts(texts), node]), {
		credential,
	});
	await editor.openWorkflow(id);
	await editor.findNode(NODE).dblclick();
	await editor.panel.waitFor();
}

it('a batch of which a task failed says so once, in short lines, and counts its item from 1', async () => {
	await openPanel(['one #fail', 'two']);
	await editor.executeStep();
	const message = await editor.get('node-error-message').first().innerText();
	expect(message).toBe('The task failed: the prompt was refused (code 501) [item 1 of 2]');
	const description = await editor.get('node-error-description').first().innerText();
	expect(description.split('\n')).toEqual([
		expect.stringMatching(/without paying again, .* currently saved workflow/),
		expect.stringContaining('pays for a new task for each of its items'),
		`Tasks that exist (look at them with Get): ${pair.findId('two')} (completed)`,
		expect.stringMatching(/^Credits consumed by this run: [\d.]+$/),
		`Task ID: ${pair.findId('one #fail')}`,
	]);
	await editor.closePanel();
});

describe('what a service says', () => {
	/** A link that covers the page, as n8n lets its style through. */
	const link = '<a style="position:fixed;inset:0;z-index:9999" href="https://evil.example">';
	const shown = '‹a style="position:fixed;inset:0;z-index:9999" href="https://evil.example"›';
	/** The label of a field has room for a short default. */
	const tag = '<i id=foreign>';
	const shownTag = '‹i id=foreign›';
	const style = { type: 'string', enum: [link, tag], default: tag, description: link };
	const answers: Record<string, object> = {
		[CREATE_PATH]: { code: 422, msg: link },
		'/api/v1/models': { code: 200, data: { models: [{ model: 'm', title: link }] } },
		'/api/v1/models/m/schema': {
			code: 200,
			data: { openapi: buildDocument({ properties: { a: style } }) },
		},
	};
	const failed = { state: 'fail', failCode: '501', failMsg: link };

	/** Sets the service's answers by their paths. Those of other paths stay as they are. */
	const answer = (own: Record<string, object>) =>
		pair.service.set({
			readSeconds: 0,
			rewrite: (body, path) => {
				if (path !== DETAILS_PATH) return own[path] ?? body;
				const { data } = body as { data?: object };
				return data ? { ...(body as object), data: { ...data, ...failed } } : body;
			},
		});

	/** Waits until a text is shown in a place, and checks that no element of the page was made of it. */
	async function expectText(place: Locator, text = shown) {
		await place.getByText(text).filter({ visible: true }).first().waitFor();
		expect(await editor.page.locator('a[href*="evil.example"], #foreign').count()).toBe(0);
	}

	it('is text, wherever n8n makes HTML of texts', async () => {
		answer(answers);
		await openPanel(['any'], { options: { failedTasks: 'output' } });
		await editor.executeStep();
		await expectText(editor.page.getByRole('alert'));
		await expectText(editor.get('node-error-message'));

		answer({});
		await editor.executeStep();
		await expectText(editor.get('node-hint'));

		answer(answers);
		const chosen = { __rl: true, mode: 'list', value: 'm', cachedResultName: 'm' };
		await openPanel(['any'], { inputMode: 'fields', anyModel: chosen });
		await expectText(editor.panel, `A (${shownTag})`);
		await editor.get('mapping-fields-container').getByPlaceholder('Select').click();
		await expectText(editor.page.getByRole('option'));
		await editor.page.keyboard.press('Escape');
		await editor.get('parameter-input-guide').click();
		await expectText(editor.page.getByRole('option').filter({ hasText: 'a (optional' }));
		await expectText(editor.page.getByRole('option'), `default ${shownTag}`);
	});
});
