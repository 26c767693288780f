import { expect } from '@jest/globals';
import { readExample } from '../../dev/fixtures/examples.cts';
import { chain, buildItems, buildMediaGeneration, NODE } from '../../dev/fixtures/workflows.cts';
import { openEditor, type Editor } from '../../dev/n8n/editor.cts';
import { poll } from '../../dev/n8n/wait.cts';
import { nameSong } from '../../dev/service/results.cts';
import { readMedia } from '../media/corpus.cts';
import { readFiles, usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.5, readSeconds: 0 }, keeps: true });
let editor: Editor;

beforeAll(async () => {
	editor = await openEditor(pair.n8n, { height: 1200 });
});
afterAll(async () => await editor?.close());
afterEach(() => pair.service.set({ catalogue: true }));

/** Builds our node as it is before a person has chosen a model. */
const buildAnyModel = (parameters: Record<string, unknown> = {}, more?: object) =>
	buildMediaGeneration({ operation: 'generate', model: 'any', ...parameters }, more);

const locateById = (value: string) => ({ __rl: true, mode: 'id', value });

/** Opens the panel of our node in a saved workflow. */
async function openPanel(id: string) {
	await editor.openWorkflow(id);
	await editor.findNode(NODE).dblclick();
	await editor.panel.waitFor();
}

/** Reads the input of the newest task as it was sent. */
const readSent = () => pair.listTasks().at(-1)?.input;

let workflowId: string;

// One person's path: each step goes on from where the one before it ended.
describe('a person who wants another model', () => {
	it('finds the model by a part of its name, fills in the fields and gets a task', async () => {
		const nodes = [...readFiles({ photo: 'plain.png' }), buildAnyModel()];
		({ id: workflowId } = await pair.importWorkflow(chain('Any model', nodes)));
		await openPanel(workflowId);
		expect(await editor.get('resource-mapper-container').count()).toBe(0);
		await editor.chooseFromSearch('anyModel', 'music song', 'Zeta Song V5');
		await editor.fill('prompt', 'Rain on a tin roof');
		await editor.get('parameter-input-instrumental').getByRole('switch').locator('..').click();
		await editor.addField('Voice Gender');
		await editor.choose('voice_gender', 'f');
		await editor.addField('Weirdness');
		await editor.fill('weirdness', '0.25');
		await editor.executeStep();
		await editor.waitForOutput();
		expect(pair.listTasks()).toMatchObject([{ model: 'zeta-song-v5' }]);
		expect(readSent()).toEqual({
			prompt: 'Rain on a tin roof',
			instrumental: true,
			voice_gender: 'f',
			weirdness: 0.25,
		});
	});

	it('reads what each field takes', async () => {
		await editor.get('parameter-input-guide').click();
		const options = editor.page.getByRole('option').filter({ visible: true });
		await options
			.filter({ hasText: 'prompt (required; text; at most 5,000 characters)' })
			.waitFor();
		await options.filter({ hasText: 'Genre, mood and instruments.' }).click();
		await editor.page.keyboard.press('Escape');
		const closed = editor.get('parameter-input-guide').locator('input');
		expect(await closed.inputValue()).toBe('Open to Read');
		// Reading and choosing change nothing, or n8n would have the node run again, which pays again.
		expect(await editor.get('node-run-info-stale').count()).toBe(0);
	});

	it('chooses another model, for which the prompt stays, and enters URLs and a binary field in a list', async () => {
		await editor.chooseFromSearch('anyModel', 'kappa reference', 'Kappa 6');
		await editor.get('parameter-input-reference_image_urls').waitFor();
		const prompt = editor.get('parameter-input-prompt');
		expect(await prompt.locator('textarea').inputValue()).toBe('Rain on a tin roof');
		await editor.fill('prompt', '');
		await prompt.hover();
		const mode = editor.get('prompt-parameter-input-options-container');
		await mode.getByText('Expression', { exact: true }).click();
		await editor.page.keyboard.type('{{ "Two " + "friends" ');
		await editor.fill('reference_image_urls', `${pair.service.filesUrl}/a,b.png, photo`);
		await editor.page.keyboard.press('Tab');
		await editor.panel.getByText('Two friends', { exact: true }).waitFor();
		await editor.executeStep();
		const isKappa = () => pair.listTasks().at(-1)?.model === 'kappa-6/reference-to-video';
		await poll(isKappa, { what: 'the second task' });
		expectTwoFriends();
		await editor.waitForOutput();
	});

	it('saves the workflow, and someone else runs it without a catalogue', async () => {
		await editor.closePanel();
		expect(await editor.findNode(NODE).innerText()).toContain('kappa-6/reference-to-video');
		await editor.page.keyboard.press('Control+s');
		const { n8n, service } = pair;
		const findSaved = async () => {
			const workflow = await n8n.getWorkflow(workflowId);
			return JSON.stringify(workflow).includes('Two') ? workflow : undefined;
		};
		const exported = await poll(findSaved, { what: 'the saved workflow' });
		// With this credential, nothing of the catalogue is in memory.
		const modelsPath = '/api/v1/models?import';
		const credential = await pair.createCredential({ advancedSettings: true, modelsPath });
		service.set({ catalogue: false });
		const { length } = service.requests;
		const listReads = () =>
			service.requests.slice(length).filter(({ path }) => path.startsWith('/api/v1/models'));
		const count = pair.listTasks().length;
		const { id } = await pair.importWorkflow(exported, { credential });
		const execution = await pair.runSaved(id);
		expect(execution.getItems(NODE)).toMatchObject([{ status: 'completed' }]);
		expect(pair.listTasks()).toHaveLength(count + 1);
		expectTwoFriends();
		expect(listReads()).toEqual([]);

		await openPanel(id);
		await editor.get('parameter-input-reference_image_urls').waitFor();
		await poll(async () => listReads().length > 0, { what: 'a read' });
		expect(await editor.get('parameter-input-first_frame_url').isVisible()).toBe(true);
	});
});

/** Checks that the newest task has what was filled in. */
function expectTwoFriends() {
	const upload = [...pair.service.uploads.values()].at(-1);
	expect(upload?.size).toBe(readMedia('plain.png').length);
	expect(readSent()).toEqual({
		prompt: 'Two friends',
		reference_image_urls: [`${pair.service.filesUrl}/a,b.png`, upload?.downloadUrl],
	});
}

it('behind a song, a person chooses a model that goes on with its result, and the IDs of each take are filled in and sent', async () => {
	const song = readExample('song-to-video').nodes.find(({ name }) => name === 'Make a song');
	const options = { outputItems: 'perFile', downloadResults: false };
	const parameters = { ...song?.parameters, options };
	const makeSong = buildMediaGeneration(parameters, { name: 'Make a song' });
	const { id } = await pair.importWorkflow(chain('Continue', [makeSong, buildAnyModel()]));
	const { length } = pair.listTasks();
	await openPanel(id);
	await editor.chooseFromSearch('anyModel', 'music video', 'Zeta Song V5 Music Video');
	await editor.panel.getByText('Task ID (earlier task)').waitFor();
	const filledIn = { task_id: '{{ $json.taskId }}', audio_id: '{{ $json.file.id }}' };
	for (const [name, expression] of Object.entries(filledIn))
		await editor.get(`parameter-input-${name}`).getByText(expression).waitFor();
	await editor.executeStep();
	await editor.waitForOutput();
	const [sung, ...videos] = pair.listTasks().slice(length);
	const taskId = String(sung?.taskId);
	expect(sung?.model).toBe('zeta-song-v5');
	expect(videos.map(({ model }) => model)).toEqual(Array(2).fill('zeta-song-v5/music-video'));
	expect(new Set(videos.map(({ input }) => input))).toEqual(
		new Set([0, 1].map((take) => ({ task_id: taskId, audio_id: nameSong(taskId, take) }))),
	);
});

it('a person who has a sheet asks for Map Automatically, and gets a task of the columns', async () => {
	const rows = [{ row_number: 2, prompt: 'A red fox', image_resolution: '2K', image: 'x' }];
	const options = { howToWait: 'polling', downloadResults: false };
	const nodes = [buildItems(rows), buildAnyModel({ options })];
	const { id } = await pair.importWorkflow(chain('Sheet', nodes));
	await openPanel(id);
	await editor.chooseFromSearch('anyModel', 'epsilon canvas', 'Epsilon Canvas');
	await editor.get('parameter-input-image_resolution').waitFor();
	await editor.addOption('Input Modes');
	await editor.get('mapping-mode-select').locator('input').click();
	await editor.page.getByRole('option').filter({ hasText: 'Map Automatically' }).click();
	await editor.get('parameter-input-image_resolution').waitFor({ state: 'hidden' });
	await editor.executeStep();
	await editor.waitForOutput();
	expect(readSent()).toEqual({ prompt: 'A red fox', image_resolution: '2K' });
	// The editor asks for the fields once more. If they changed, n8n says to run the node again, which pays again.
	await editor.page.waitForTimeout(2_000);
	expect(await editor.get('node-run-info-stale').count()).toBe(0);
});

const PASTED = '{ "prompt": "{{ $json.prompt }}" }';

it('pasted JSON with an expression becomes an expression, because the field is blank at first', async () => {
	const node = buildAnyModel({
		anyModel: locateById('epsilon-2/text-to-video'),
		inputMode: 'json',
	});
	const nodes = [buildItems([{ prompt: 'A red fox' }]), node];
	const { id } = await pair.importWorkflow(chain('Pasted', nodes));
	const { length } = pair.listTasks();
	await openPanel(id);
	const json = editor.get('parameter-input-anyInput');
	await editor.panel
		.getByText('For example { "prompt": "A red fox in snow" }, or a whole body')
		.waitFor();
	await json.getByRole('textbox').click();
	await editor.page.keyboard.insertText(PASTED);
	await editor.closePanel();
	await editor.page.keyboard.press('Control+s');
	const readStored = async () => {
		const { nodes } = await pair.n8n.getWorkflow(id);
		return nodes.find(({ name }) => name === NODE)?.parameters?.anyInput;
	};
	expect(await poll(readStored, { what: 'the saved JSON' })).toBe(`=${PASTED}`);
	await pair.runSaved(id);
	expect(pair.listTasks()).toHaveLength(length + 1);
	expect(readSent()).toEqual({ prompt: 'A red fox' });
});
