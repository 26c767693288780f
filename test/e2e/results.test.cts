import { expect } from '@jest/globals';
import { buildResultBytes } from '../../dev/fixtures/results.cts';
import {
	generate,
	loop,
	mediaGeneration,
	NODE,
	prompts,
	SEEN,
} from '../../dev/fixtures/workflows.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { readMedia } from '../media/corpus.cts';
import { readFiles, readHints, usePair } from './support.cts';

/** Of result files, in MB. */
const SIZE = 0.3;

interface ResultTask extends Task {
	downloadError?: string;
	/** With an item for each file. */
	file?: { index: number; url: string };
}

const pair = usePair({
	service: { taskSeconds: 0.5, credits: 1e6, callbackRetrySeconds: [1, 2, 4] },
});

const fetchBytes = async (url?: string) =>
	Buffer.from(await (await fetch(String(url))).arrayBuffer());

const matching = (pattern: string): unknown => expect.stringMatching(pattern);

function getOutput(execution: Execution) {
	const output = execution.getOutput(NODE);
	const tasks = execution.getItems<ResultTask>(NODE);
	return tasks.map((json, index) => ({ binary: {}, ...output[index], json }));
}

// In n8n's queue mode, where files are in the database, test/queue does the same.
it('files go from disk to the service and back, byte for byte, also over a sleep', async () => {
	const sent = { photo: 'side-341.png', clip: 'faststart.mp4' };
	const model = { model: 'alpha-3.0/motion-control', image: 'photo', video: 'clip' };
	const prompt = `film #files=3 #fileSize=${SIZE}`;
	const download = { outputBinaryField: 'film', maxSizeMegabytes: 0 };
	const node = { ...model, prompt, options: { howToWait: 'callback', ...download } };
	const execution = await pair.runNodes(...readFiles(sent), mediaGeneration(node));
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
	const [item] = getOutput(execution);
	const { json, binary = {} } = item ?? {};
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
	const equal = prompts(['A fox', 'A fox']);
	const node = generate({ options: { downloadResults: true } });
	const getFiles = mediaGeneration({ operation: 'getFiles' }, { name: 'Get Files' });
	const listNames = (execution: Execution, name: string) =>
		execution.getOutput(name).map(({ binary }) => binary?.data?.fileName);
	const batch = await pair.runNodes(equal, node, getFiles);
	const looped = await pair.run(loop(equal, node));
	expect(pair.listPrompts()).toEqual(Array.from({ length: 4 }, () => 'A fox'));
	const names = listNames(batch, NODE);
	expect(names).toEqual([1, 2].map((item) => matching(`^a-fox-${item}-[a-z]{8}\\.mp4$`)));
	expect(listNames(batch, 'Get Files')).toEqual(names);
	const inLoop = listNames(looped, 'Loop');
	expect(inLoop).toEqual([1, 2].map(() => matching('^a-fox-[a-z]{8}\\.mp4$')));
	expect(new Set([...names, ...inLoop]).size).toBe(4);
});

// n8n repeats a node whose first item is an error, and the limit ends the wait.
it('each file is an item of its own, also after a repeat and at the limit, costs no task when it is missing, and is paired with its input', async () => {
	const texts = ['#status=422', '#files=2', '#fail', '#neverEnds', '#files=3 #links=dead'];
	const [refused, two, failed, endless, dead] = texts;
	const repeats = { retryOnFail: true, maxTries: 2, waitBetweenTries: 100 };
	const goesOn = { ...repeats, onError: 'continueRegularOutput' };
	const files = { downloadResults: true, outputItems: 'perFile' };
	const options = { howToWait: 'callback', waitLimit: 0.1, failedTasks: 'output', ...files };
	const node = generate({ options }, goesOn);
	const execution = await pair.runNodes(prompts(texts), node, SEEN);
	expect(execution.getItems('Seen').map(({ prompt }) => prompt)).toEqual([
		refused,
		two,
		two,
		failed,
		endless,
		dead,
		dead,
		dead,
	]);
	const output = getOutput(execution).map(({ json, binary }) => ({
		prompt: pair.service.tasks.get(json.taskId)?.input.prompt,
		status: json.status,
		index: json.file?.index,
		files: Object.keys(binary),
		isOwn: json.file && json.file.url === json.resultUrls?.[json.file.index],
		isMissing: json.downloadError !== undefined,
	}));
	const none = { files: [], isMissing: false };
	const file = { status: 'completed', isOwn: true, files: ['data'], isMissing: false };
	expect(output).toEqual([
		{ ...none },
		...[0, 1].map((index) => ({ prompt: two, index, ...file })),
		{ prompt: failed, status: 'failed', ...none },
		{ prompt: endless, status: 'timedOut', ...none },
		...[0, 1, 2].map((index) => ({ prompt: dead, index, ...file, files: [], isMissing: true })),
	]);
	const [, second] = getOutput(execution);
	const bytes = second?.binary.data && (await pair.n8n.readBinary(second.binary.data));
	expect(bytes?.equals(await fetchBytes(second?.json.file?.url))).toBe(true);
	expect(pair.service.tasks.size).toBe(4);
	// What was refused was sent again by the repeat.
	expect(pair.countCreations()).toBe(6);
});

it('files of a host that hiccups are downloaded all the same, over a sleep and by Get Files', async () => {
	const texts = ['#fileFails=3', '#fileFails=3 #fileStatus=503', '#fileDrops=2', '#fileFails=6'];
	const node = generate({ options: { howToWait: 'callback', downloadResults: true } });
	const getFiles = mediaGeneration({ operation: 'getFiles' }, { name: 'Get Files' });
	const execution = await pair.runNodes(prompts(texts), node, getFiles);
	const requests = texts.map((prompt) => pair.findTask(prompt).fileRequests.get('result.mp4'));
	expect(requests).toEqual([5, 5, 4, 7]);
	const why = expect.stringContaining('has expired or is refused');
	expect(
		getOutput(execution).map(({ json, binary }) => [binary.data?.mimeType, json.downloadError]),
	).toEqual([...[1, 2, 3].map(() => ['video/mp4', undefined]), [undefined, why]]);
	expect(readHints(execution)).toContainEqual(
		expect.stringContaining('Items that lack a file: 1. The first: The link to'),
	);
	const files = execution.getOutput('Get Files').map(({ binary }) => binary?.data?.mimeType);
	expect(files).toEqual(texts.map(() => 'video/mp4'));
});
