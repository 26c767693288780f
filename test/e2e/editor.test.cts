const { isDeepStrictEqual } = require('node:util');
const { openEditor } = require('../../dev/n8n/editor.cts');
const { poll } = require('../../dev/n8n/wait.cts');
const { startService } = require('../../dev/service');
const {
	CREDENTIAL_TYPE,
	TOKEN,
	WEBHOOK_SECRET,
	startPackedN8n,
} = require('../../dev/fixtures/pair.cts');
const { chain, mediaGeneration } = require('../../dev/fixtures/workflows.cts');

const NODE = 'n8n-nodes-media-generation.mediaGeneration';

/** @typedef {import('n8n-workflow').INodeProperties} Property */

/** @type {import('../../dev/n8n/n8n.cts').N8n} */
let n8n;
/** @type {Awaited<ReturnType<typeof startService>>} */
let service;
/** @type {import('../../dev/n8n/editor.cts').Editor} */
let editor;
/** @type {Property[]} what the action node declares */
let properties;

beforeAll(async () => {
	service = await startService({ token: TOKEN, webhookSecret: WEBHOOK_SECRET, taskSeconds: 1 });
	n8n = await startPackedN8n();
	const types = await n8n.listNodeTypes('n8n-nodes-media-generation');
	properties = types.find(({ name }) => name === NODE)?.properties;
	editor = await openEditor(n8n);
});

afterAll(async () => {
	await editor?.close();
	await n8n?.stop();
	await service?.close();
});

/**
 * The properties that are to be shown for these values, and for the defaults of what is not among them, in their order.
 * @param {Record<string, string>} values
 */
function declared(values) {
	return properties.filter(({ displayOptions }) =>
		Object.entries(displayOptions?.show ?? {}).every(([name, allowed]) =>
			allowed?.includes(
				values[name] ?? String(properties.find((property) => property.name === name)?.default),
			),
		),
	);
}

/**
 * What a list in the panel offers.
 * @param {string} name
 * @param {Record<string, string>} values
 */
function offered(name, values) {
	const property = declared(values).find((property) => property.name === name);
	return /** @type {Array<{ name: string, value: string, action?: string }>} */ (
		property?.options ?? []
	);
}

/**
 * A field's title, and those of the row that it begins with, if it does.
 * @param {Property} property
 * @returns {string[]}
 */
function titles({ displayName, default: begun, options = [] }) {
	const rows = options.flatMap((option) =>
		'values' in option && Object.hasOwn(/** @type {object} */ (begun), option.name)
			? option.values
			: [],
	);
	return [displayName, ...rows.map((field) => field.displayName)];
}

/**
 * Holds the open panel to the declaration.
 * @param {Record<string, string>} values
 */
async function expectFields(values) {
	const expected = declared(values)
		.filter(({ type }) => type !== 'notice')
		.flatMap(titles);
	/** @type {string[]} */
	let shown = [];
	// The panel draws the rows of a list after the fields around it.
	await poll(async () => isDeepStrictEqual((shown = await editor.readFieldTitles()), expected), {
		timeout: 5_000,
		what: 'the declared fields',
	}).catch(() => {});
	expect([values, shown]).toEqual([values, expected]);
}

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

	it('finds the node by what it does', async () => {
		await editor.openNewWorkflow();
		for (const words of ['video', 'image edit', 'motion', 'AI video', 'text to video']) {
			await editor.search('no node is called this');
			await editor.get('node-creator-no-results').waitFor();
			await editor.search(words);
			await editor.findEntry('Media Generation').waitFor();
		}
	});

	it('sees the fields of each operation and each model, and no others', async () => {
		await editor.openNewManualWorkflow();
		await editor.addNode('media', 'Media Generation', 'Create task and wait');
		for (const resource of offered('resource', {})) {
			await editor.choose('resource', resource.name);
			for (const operation of offered('operation', { resource: resource.value })) {
				await editor.choose('operation', operation.name);
				const chosen = { resource: resource.value, operation: operation.value };
				const models = offered('model', chosen);
				for (const model of models) {
					await editor.choose('model', model.name);
					await expectFields({ ...chosen, model: model.value });
				}
				if (models.length === 0) await expectFields(chosen);
			}
		}
	});

	it('is shown which required fields are empty, in lists too', async () => {
		await editor.openNewManualWorkflow();
		await editor.addNode('media', 'Media Generation', 'Create task and wait');
		await editor.executeStep();
		await editor.get('parameter-issues').nth(1).waitFor();
		for (const model of ['Delta Reference to Video', 'Gamma V6 Reference to Video']) {
			await editor.choose('model', model);
			await editor.get('parameter-issues').waitFor();
		}
	});

	it('runs the node, reads what it waits for, and sees its output', async () => {
		await editor.openNewManualWorkflow();
		await editor.addNode('media', 'Media Generation', 'Create task and wait');
		await editor.choose('model', 'Beta2 Image Edit');
		await editor.fill('image', `${service.resultsUrl}/sample.png`);
		await editor.fill('prompt', 'Make it snow');
		await editor.executeStep();
		await editor.output.getByText('The execution sleeps.').waitFor();
		await editor.waitForOutput();
		await editor.output.getByText('completed', { exact: true }).waitFor();
		await editor.closePanel();
		const label = await editor.findNode('Create task and wait').innerText();
		expect(label).toContain('Beta2 Image Edit');
	});

	it('looks at a video and its first frame in the output panel', async () => {
		const [credential] = await n8n.listCredentials();
		if (!credential) throw new Error('There is no credential');
		const media = { image: `${service.resultsUrl}/a.png`, video: `${service.resultsUrl}/a.mp4` };
		const workflow = chain('A video', [
			mediaGeneration({ operation: 'createAndWait', ...media }),
			mediaGeneration(
				{ operation: 'download', files: ['firstFrame', 'result'] },
				{ name: 'Download files' },
			),
		]);
		const { id } = await n8n.importWorkflow(workflow, {
			credentials: { [CREDENTIAL_TYPE]: credential },
		});
		await editor.openWorkflow(id);
		await editor.findNode('Download files').dblclick();
		await editor.executeStep();
		for (const [index, kind] of /** @type {const} */ (['image', 'video']).entries()) {
			await editor.get('ndv-view-binary-data').nth(index).click();
			await editor.waitForPreview(kind);
			await editor.page.getByText('Back to list').click();
		}
	});

	it('maps what a task gives out before the first run', async () => {
		await editor.openNewManualWorkflow();
		await editor.addNode('media', 'Media Generation', 'Create task');
		await editor.closePanel();
		await editor.addNode('media', 'Media Generation', 'Get task');

		const fields = editor.get('run-data-schema-item');
		await fields.filter({ hasText: 'taskId' }).first().waitFor();
		expect(await fields.allInnerTexts()).toEqual(
			expect.arrayContaining(['taskId', 'status', 'resultUrls', 'resultUrls[0]', 'model']),
		);
	});

	it('reads in the trigger which URL goes where, publishes it, and sees an execution come in', async () => {
		await editor.openNewWorkflow();
		await editor.addNode('media', 'Media Generation', 'On task completed');
		const { panel } = editor;
		await panel.getByText('Webhook URLs', { exact: true }).first().click();
		await panel.getByText(`${n8n.url}/webhook-test/`).waitFor();
		await panel.getByText('Production URL', { exact: true }).first().click();
		const callBackUrl = await panel.getByText(`${n8n.url}/webhook/`).innerText();
		await panel.getByText('of the Media Generation node that creates the tasks').waitFor();
		await editor.closePanel();

		expect(await editor.publish()).toContain('start this workflow when they end');
		const created = await fetch(`${service.url}/api/v1/jobs/createTask`, {
			method: 'POST',
			headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
			body: JSON.stringify({
				model: 'beta2/image-edit',
				input: { image_url: `${service.resultsUrl}/sample.png`, prompt: '' },
				callBackUrl,
			}),
		});
		expect(created.status).toBe(200);
		await editor.page.getByText('Executions', { exact: true }).click();
		await editor.get('execution-time').first().waitFor();
	});
});
