import { expect } from '@jest/globals';
import { listRows } from '../../dev/fixtures/night.cts';
import { openEditor, type Editor } from '../../dev/n8n/editor.cts';
import { usePair } from './support.cts';

const pair = usePair({ service: { lookupSeconds: 0 }, keeps: true });
let editor: Editor;

beforeAll(async () => {
	editor = await openEditor(pair.n8n, { width: 1500, height: 950 });
});
afterAll(async () => await editor?.close());

/** Measures the panel of an action of a node, in a workflow of its own. */
async function measure(words: string, node: string, action: string) {
	await editor.openNewManualWorkflow();
	await editor.addNode(words, node, action);
	await editor.page.mouse.move(0, 0);
	return await editor.measurePanel();
}

const expectShort = (
	measured: { height: number; words: number },
	height: number,
	words: number,
) => {
	expect(measured.height).toBeGreaterThan(300);
	expect(measured.words).toBeGreaterThan(15);
	expect(measured.height).toBeLessThanOrEqual(height);
	expect(measured.words).toBeLessThanOrEqual(words);
};

describe('the panel at 1500 × 950', () => {
	it("is short when it is fresh, not much longer than that of n8n's OpenAI node", async () => {
		const openAi = await measure('OpenAI', 'OpenAI', 'Generate an image');
		const fresh = await measure('media', 'Media Generation', 'Generate a video or image');
		expectShort(fresh, 560, 40);
		expect(fresh.height - openAi.height).toBeLessThan(110);
	});

	const withImage = ['image to video', 'Epsilon 2 Image to Video', 'image_url'];
	const MODELS = listRows(
		[
			['text to image', 'Epsilon Canvas Text to Image', 'aspect_ratio'],
			['song', 'Zeta Song V5', 'instrumental'],
			withImage,
		],
		withImage,
	);

	it.each(MODELS)('is short with a model, found by "%s": %s', async (words, model, field) => {
		await editor.chooseFromSearch('anyModel', words, model);
		await editor.get(`parameter-input-${field}`).waitFor();
		await editor.page.mouse.move(0, 0);
		expectShort(await editor.measurePanel(), 900, 90);
	});
});
