import { chromium, selectors, type Locator, type Page } from 'playwright-core';
import type { N8n } from './n8n.cts';
import { PATIENCE } from './wait.cts';

// n8n marks its elements for tests by this attribute.
selectors.setTestIdAttribute('data-test-id');

const CHROMIUM = process.env.CHROMIUM || '/usr/bin/chromium';

/** Arguments that keep the browser from the internet. A route of Playwright would do the same, but turn off the cache. */
const ARGUMENTS = [
	'--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
	'--headless=new',
	'--disable-gpu',
	'--disable-quic',
];

interface EditorWindow {
	width?: number;
	height?: number;
	theme?: 'light' | 'dark';
}

/** Opens n8n's editor in a browser with an empty profile, logged in as the owner. The browser sends requests to this machine only. */
export async function openEditor(
	n8n: N8n,
	{ width = 1440, height = 900, theme = 'light' }: EditorWindow = {},
) {
	const browser = await chromium.launch({
		executablePath: CHROMIUM,
		args: ARGUMENTS,
		timeout: PATIENCE,
	});
	try {
		const context = await browser.newContext({
			viewport: { width, height },
			colorScheme: theme,
			reducedMotion: 'reduce',
		});
		context.setDefaultTimeout(PATIENCE);
		const [name = '', value = ''] = n8n.session.cookie.split('=');
		await context.addCookies([{ name, value, url: n8n.url }]);
		return new Editor(await context.newPage(), n8n.url);
	} catch (error) {
		await browser.close();
		throw error;
	}
}

/** n8n's editor, which tests use as a person does: by what is on the screen. `page` is for what has no method here. */
export class Editor {
	readonly panel: Locator;
	readonly list: Locator;
	readonly output: Locator;
	readonly credential: Locator;
	readonly [Symbol.asyncDispose] = async () => await this.close();

	constructor(
		readonly page: Page,
		readonly url: string,
	) {
		this.panel = this.get('ndv');
		this.list = this.get('node-creator');
		this.output = this.get('output-panel');
		this.credential = this.get('editCredential-modal');
	}

	get(id: string) {
		return this.page.getByTestId(id);
	}

	/** Opens an empty workflow. The editor shows it, and then sets it up once more, so this waits for the network. */
	async openNewWorkflow() {
		await this.page.goto(`${this.url}/workflow/new`, { waitUntil: 'networkidle' });
		await this.get('canvas-plus-button').waitFor();
	}

	async openWorkflow(id: string) {
		await this.page.goto(`${this.url}/workflow/${id}`, { waitUntil: 'networkidle' });
		await this.get('canvas-node').first().waitFor();
	}

	/** Opens a workflow that starts by hand: after its trigger, the node list offers actions. */
	async openNewManualWorkflow() {
		await this.openNewWorkflow();
		await this.addNode('', 'Trigger manually');
		await this.get('canvas-node').waitFor();
	}

	/** Searches the node list, which it opens first if need be. */
	async search(words: string) {
		const bar = this.get('node-creator-search-bar');
		const opener = this.get('node-creator-plus-button').or(this.get('canvas-plus-button'));
		if (!(await bar.isVisible())) await opener.first().click();
		await bar.fill(words);
	}

	/** Finds an entry of the node list: a node, or an action of the node that was chosen. */
	findEntry(name: string) {
		return this.list.getByTestId('node-creator-item-name').getByText(name, { exact: true });
	}

	/** Adds a node by searching for it, with one of its actions if it has any. If the node has a panel, the panel opens. */
	async addNode(words: string, node: string, action?: string) {
		await this.search(words);
		await this.findEntry(node).click();
		if (!action) return;
		await this.findEntry(action).click();
		await this.panel.waitFor();
	}

	findNode(name: string) {
		return this.page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
	}

	async closePanel() {
		await this.get('ndv-close-button').first().click();
		await this.panel.waitFor({ state: 'hidden' });
	}

	/** Chooses an entry of a list in the open panel, by its name there. */
	async choose(parameter: string, option: string) {
		const input = this.get(`parameter-input-${parameter}`);
		await input.click();
		const entries = this.page.getByRole('option').filter({ visible: true });
		await entries
			.filter({ has: this.page.getByText(option, { exact: true }) })
			.first()
			.click();
		await entries.first().waitFor({ state: 'hidden' });
	}

	/** Chooses an entry of a list that is searched, by words to type and a part of its name. */
	async chooseFromSearch(parameter: string, words: string, entry: string) {
		await this.get(`resource-locator-${parameter}`).getByTestId('rlc-input').click();
		await this.get('rlc-search').filter({ visible: true }).fill(words);
		await this.get('rlc-item').filter({ visible: true, hasText: entry }).first().click();
	}

	/** Adds an entry of Options in the open panel. */
	async addOption(name: string) {
		await this.get('collection-parameter-add').click();
		const entries = this.get('collection-parameter-option').filter({ visible: true });
		await entries.filter({ hasText: name }).first().click();
	}

	/** Adds a field of the chosen model that isn't shown at first, by its name in the list. */
	async addField(name: string) {
		await this.get('add-fields-select').getByRole('button').click();
		await this.page.getByRole('menuitem').filter({ hasText: name }).first().click();
	}

	async fill(parameter: string, text: string) {
		await this.get(`parameter-input-${parameter}`).locator('input, textarea').fill(text);
	}

	/** Starts the node of the open panel. */
	async executeStep() {
		await this.get('node-execute-button').click();
	}

	/**
	 * Waits until the started node has output a completed task. n8n shows the task's files first, if there are any. While the
	 * execution sleeps, the panel shows a pending task. n8n's message about the end is gone too soon to wait for.
	 */
	async waitForOutput() {
		const completed = this.output.getByText('completed', { exact: true });
		const file = this.output.getByTestId('ndv-view-binary-data');
		await completed.or(file).first().waitFor();
	}

	/** Views the file in the output panel, once it is there. */
	async viewFile(kind: 'image' | 'video') {
		await this.output.getByTestId('ndv-view-binary-data').click();
		await this.waitForFile(kind);
	}

	/** Waits until the viewed file has loaded. */
	async waitForFile(kind: 'image' | 'video') {
		const shown = { image: 'img', video: 'video' }[kind];
		await this.page.waitForFunction((selector) => {
			const element = document.querySelector(`[data-test-id="output-panel"] ${selector}`);
			return element instanceof HTMLVideoElement
				? element.readyState >= element.HAVE_CURRENT_DATA
				: element instanceof HTMLImageElement && element.naturalWidth > 0;
		}, shown);
	}

	/** Publishes the open workflow, and returns the text that the editor then shows. */
	async publish() {
		await this.get('workflow-open-publish-modal-button').click();
		await this.get('workflow-publish-button').click();
		const message = this.page.getByRole('dialog').filter({ hasText: 'Workflow published' });
		const text = await message.innerText();
		await message.getByRole('button', { name: 'Got it' }).click();
		return text;
	}

	/** Opens the form of a new credential, whose type is named as in the list. */
	async openNewCredential(type: string) {
		await this.page.goto(`${this.url}/home/credentials/create`);
		await this.get('new-credential-type-select').locator('input').fill(type);
		await this.get('new-credential-type-select-option').filter({ hasText: type }).first().click();
		await this.get('new-credential-type-button').click();
		await this.credential.waitFor();
	}

	async close() {
		await this.page.context().browser()?.close();
	}
}
