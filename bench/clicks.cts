import fs from 'node:fs';
import path from 'node:path';
import fastify from 'fastify';
import { imageEdit, makeFirstPicture, textToImage } from '../dev/fixtures/firstPicture.cts';
import { startPair } from '../dev/fixtures/pair.cts';
import { openEditor } from '../dev/n8n/editor.cts';
import { root } from '../dev/pack.cts';
import type { Row } from './measure.cts';

/** Starts a local stand-in of OpenAI's interface for images. */
async function startImages() {
	const picture = fs.readFileSync(path.join(root, 'dev', 'service', 'media', 'sample.png'));
	const server = fastify();
	server.post('/v1/images/generations', () => ({
		data: [{ b64_json: picture.toString('base64') }],
	}));
	const url = await server.listen({ host: '127.0.0.1', port: 0 });
	return { url: `${url}/v1`, [Symbol.asyncDispose]: async () => await server.close() };
}

const show = (name: string, { clicks, texts }: { clicks: number; texts: number }): Row => ({
	name,
	value: clicks,
	unit: 'clicks',
	figures: `${texts} texts`,
});

/** What a person does from an empty canvas, with a credential there, until the first picture is seen; beside n8n's OpenAI node. */
export async function bench(): Promise<Row[]> {
	await using pair = await startPair({ service: { taskSeconds: 1 } });
	await using images = await startImages();
	const data = { apiKey: 'none', url: images.url };
	await pair.n8n.createCredential({ name: 'Stand-in', type: 'openAiApi', data });
	await using editor = await openEditor(pair.n8n);
	const sample = `${pair.service.resultsUrl}/sample.png`;
	const theirs = await makeFirstPicture(editor, {
		words: 'openai',
		node: 'OpenAI',
		action: 'Generate an image',
		fill: async (hand) => await hand.fill('prompt', 'A red fox in snow'),
	});
	return [
		show(
			'Text to image',
			await makeFirstPicture(editor, textToImage('Epsilon Canvas Text to Image')),
		),
		show('Image edit', await makeFirstPicture(editor, imageEdit(sample))),
		show("Text to image by n8n's OpenAI node", theirs),
	];
}
