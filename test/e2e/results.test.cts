import { expect } from '@jest/globals';
import { buildResultBytes } from '../../dev/fixtures/results.cts';
import {
	generate,
	loop,
	buildMediaGeneration,
	NODE,
	buildPrompts,
} from '../../dev/fixtures/workflows.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import { readMedia } from '../media/corpus.cts';
import { readFiles, usePair } from './support.cts';

/** The size of result files, in MB. */
const SIZE = 0.3;

const pair = usePair({
	service: { taskSeconds: 0.5, credits: 1e6, callbackRetrySeconds: [1, 2, 4] },
});

const fetchBytes = async (url?: string) =>
	Buffer.from(await (await fetch(String(url))).arrayBuffer());

const matchText = (pattern: string): unknown => expect.stringMatching(pattern);

// In n8n's queue mode, where files are in the database, test/queue does the same.
it('files go from disk to the service and back, byte for byte, also over a sleep', async () => {
	const sent = { photo: 'side-341.png', clip: 'faststart.mp4' };
	const model = { model: 'alpha-3.0/motion-control', image: 'photo', video: 'clip' };
	const prompt = `film #files=3 #fileSize=${SIZE}`;
	const download = { outputBinaryField: 'film', maxSizeMegabytes: 0 };
	const node = { ...model, prompt, options: { howToWait: 'callback', ...download } };
	const execution = await pair.runNodes(...readFiles(sent), buildMediaGeneration(node));
	const uploads = [...pair.service.uploads.values()];
	expect(uploads).toMatchObject([
		{ fileName: expect.stringMatching(/^side-341-[\da-f-]{36}\.png$/), mimeType: 'image/png' },
		{ fileName: expect.stringMatching(/^faststart-[\da-f-]{36}\.mp4$/), mimeType: 'video/mp4' },
	]);
	const urls = uploads.map(({ downloadUrl }) => downloadUrl);
	for (const [index, name] of Object.values(sent).entries())
		expect((await fetchBytes(urls[index])).equals(readMedia(name))).toBe(true);
	const { taskId, input } = pair.findTask(prompt);
	expect(input).toMatchObject({ input_urls: [urls[0]], video_urls: [urls[1]] });
	const [{ json, binary = {} } = {}] = execution.getOutput(NODE);
	expect(json).toMatchObject({ taskId, status: 'completed' });
	expect(Object.keys(binary)).toEqual(['film', 'film_1', 'film_2']);
	for (const [number, file] of Object.values(binary).entries()) {
		const fileName = expect.stringMatching(/^film-.*mp4$/);
		expect(file).toMatchObject({ mimeType: 'video/mp4', fileName });
		const bytes = await pair.n8n.readBinary(file);
		expect(bytes.equals(buildResultBytes(taskId, number, SIZE))).toBe(true);
	}
	expect(pair.service.deliveries).toHaveLength(3);
	expect(pair.service.leaks).toEqual([]);
});

it('files of equal prompts have names of their own over executions and the rounds of a loop, the same by Get Files', async () => {
	const equal = buildPrompts(['A fox', 'A fox']);
	const node = generate({ options: { downloadResults: true } });
	const getFiles = buildMediaGeneration({ operation: 'getFiles' }, { name: 'Get Files' });
	const listNames = (execution: Execution, name: string) =>
		execution.getOutput(name).map(({ binary }) => binary?.data?.fileName);
	const batch = await pair.runNodes(equal, node, getFiles);
	const looped = await pair.run(loop(equal, node));
	expect(pair.listPrompts()).toEqual(Array.from({ length: 4 }, () => 'A fox'));
	const names = listNames(batch, NODE);
	expect(names).toEqual([1, 2].map((item) => matchText(`^a-fox-${item}-[a-z]{8}\\.mp4$`)));
	expect(listNames(batch, 'Get Files')).toEqual(names);
	const inLoop = listNames(looped, 'Loop');
	expect(inLoop).toEqual([1, 2].map(() => matchText('^a-fox-[a-z]{8}\\.mp4$')));
	expect(new Set([...names, ...inLoop]).size).toBe(4);
});
