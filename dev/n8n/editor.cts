const { chromium, selectors } = require('playwright-core');

/**
 * @typedef {import('playwright-core').Page} Page
 * @typedef {{ width?: number, height?: number, theme?: 'light' | 'dark' }} Look
 */

/** n8n's own hook for tests. */
selectors.setTestIdAttribute('data-test-id');

const CHROMIUM = process.env.CHROMIUM || '/usr/bin/chromium';

/** What keeps a new browser from the internet, and lets it run in a container. */
const ARGUMENTS = [
	'--headless=new',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
	...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

/** How long the editor may take for one step, in milliseconds. */
const STEP_LIMIT = 20_000;

/**
 * Opens n8n's editor in a browser of its own with an empty profile, logged in as the owner. Nothing but this machine is asked.
 * @param {import('./n8n.cts').N8n} n8n
 * @param {Look} [look]
 */
async function openEditor(n8n, { width = 1440, height = 900, theme = 'light' } = {}) {
	const browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
	try {
		const context = await browser.newContext({
			viewport: { width, height },
			colorScheme: theme,
			reducedMotion: 'reduce',
		});
		context.setDefaultTimeout(STEP_LIMIT);
		const { hostname: here } = new URL(n8n.url);
		await context.route(
			({ hostname }) => hostname !== here,
			(route) => route.abort(),
		);
		const page = await context.newPage();
		await page.goto(`${n8n.url}/signin`);
		await page.locator('input[name="emailOrLdapLoginId"]').fill(n8n.owner.email);
		await page.locator('input[name="password"]').fill(n8n.owner.password);
		await page.getByTestId('form-submit-button').click();
		await page.waitForURL(/\/home\//);
		return new Editor(page, n8n.url);
	} catch (error) {
		await browser.close();
		throw error;
	}
}

/** n8n's editor, used as a person uses it: by what is on the screen. `page` is there for what has no name here. */
class Editor {
	#url;

	/**
	 * @param {Page} page
	 * @param {string} url
	 */
	constructor(page, url) {
		this.page = page;
		this.#url = url;
		this.panel = page.getByTestId('ndv');
		this.list = page.getByTestId('node-creator');
		this.output = page.getByTestId('output-panel');
		this.credential = page.getByTestId('editCredential-modal');
	}

	/** @param {string} id */
	get(id) {
		return this.page.getByTestId(id);
	}

	/** Opens an empty workflow; the editor sets it up once more after it has shown it first. */
	async newWorkflow() {
		await this.page.goto(`${this.#url}/workflow/new`, { waitUntil: 'networkidle' });
		await this.get('canvas-plus-button').waitFor();
	}

	/** @param {string} id */
	async openWorkflow(id) {
		await this.page.goto(`${this.#url}/workflow/${id}`, { waitUntil: 'networkidle' });
		await this.get('canvas-node').first().waitFor();
	}

	/** Opens a workflow that starts by hand: after its trigger, the node list offers actions. */
	async newManualWorkflow() {
		await this.newWorkflow();
		await this.addNode('', 'Trigger manually');
		await this.get('canvas-node').waitFor();
	}

	/**
	 * Searches the node list, which is opened where it is not.
	 * @param {string} words
	 */
	async search(words) {
		const bar = this.get('node-creator-search-bar');
		const opener = this.get('node-creator-plus-button').or(this.get('canvas-plus-button'));
		if (!(await bar.isVisible())) await opener.first().click();
		await bar.fill(words);
	}

	/**
	 * An entry of the node list: a node, or an action of the node that was chosen.
	 * @param {string} name
	 */
	entry(name) {
		return this.list.getByTestId('node-creator-item-name').getByText(name, { exact: true });
	}

	/**
	 * Adds a node by searching for it, with one of its actions where it has some; its panel opens, if it has one.
	 * @param {string} words
	 * @param {string} node
	 * @param {string} [action]
	 */
	async addNode(words, node, action) {
		await this.search(words);
		await this.entry(node).click();
		if (!action) return;
		await this.entry(action).click();
		await this.panel.waitFor();
	}

	/** @param {string} name */
	node(name) {
		return this.page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
	}

	async closePanel() {
		await this.get('ndv-close-button').first().click();
		await this.panel.waitFor({ state: 'hidden' });
	}

	/**
	 * Chooses an entry of a list in the open panel.
	 * @param {string} parameter
	 * @param {string} option its name in the list
	 */
	async choose(parameter, option) {
		const input = this.get(`parameter-input-${parameter}`);
		await input.click();
		const entries = this.page.getByRole('option').filter({ visible: true });
		await entries
			.filter({ has: this.page.getByText(option, { exact: true }) })
			.first()
			.click();
		await entries.first().waitFor({ state: 'hidden' });
	}

	/**
	 * @param {string} parameter
	 * @param {string} text
	 */
	async fill(parameter, text) {
		await this.get(`parameter-input-${parameter}`).locator('input, textarea').fill(text);
	}

	/**
	 * The titles of the fields that the open panel shows, in their order; the rows of a list have none.
	 * @returns {Promise<string[]>}
	 */
	async shownFields() {
		const labels = await this.panel
			.getByTestId('parameter-item')
			.filter({ visible: true })
			.getByTestId('input-label')
			.locator('label:not([role]) > :first-child')
			.allInnerTexts();
		return labels.map((text) => text.split('\n', 1)[0]?.trim() ?? '').filter(Boolean);
	}

	/** Starts the node of the open panel. */
	async executeStep() {
		await this.get('node-execute-button').click();
	}

	/** Waits until the started node has given something out; one that is parked shows its item before. */
	async finished() {
		await this.page.getByText('Node executed successfully').waitFor();
		await this.output.getByRole('table').waitFor();
	}

	/**
	 * Waits until the output panel shows a file.
	 * @param {'image' | 'video'} kind
	 */
	async preview(kind) {
		const shown = { image: 'img', video: 'video' }[kind];
		await this.page.waitForFunction((selector) => {
			const element = document.querySelector(`[data-test-id="output-panel"] ${selector}`);
			return element instanceof HTMLVideoElement
				? element.readyState >= element.HAVE_CURRENT_DATA
				: element instanceof HTMLImageElement && element.naturalWidth > 0;
		}, shown);
	}

	/** Publishes the open workflow, and gives out what the editor then tells. */
	async publish() {
		await this.get('workflow-open-publish-modal-button').click();
		await this.get('workflow-publish-button').click();
		const message = this.page.getByRole('dialog').filter({ hasText: 'Workflow published' });
		const text = await message.innerText();
		await message.getByRole('button', { name: 'Got it' }).click();
		return text;
	}

	/**
	 * Opens the form of a new credential.
	 * @param {string} type its name in the list
	 */
	async newCredential(type) {
		await this.page.goto(`${this.#url}/home/credentials/create`);
		await this.get('new-credential-type-select').locator('input').fill(type);
		await this.get('new-credential-type-select-option').filter({ hasText: type }).first().click();
		await this.get('new-credential-type-button').click();
		await this.credential.waitFor();
	}

	async close() {
		await this.page.context().browser()?.close();
	}
}

module.exports = { openEditor, Editor };
