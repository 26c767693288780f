import { ExecuteContext } from 'n8n-core';
import { createRunExecutionData, sleep, Workflow, type INode } from 'n8n-workflow';
import { fetchFile, type FileSource } from '../../nodes/MediaGeneration/run/files/fetchFile';
import { startRawHost, type Answer } from './rawHost.cts';

let host: Awaited<ReturnType<typeof startRawHost>>;
beforeEach(async () => void (host = await startRawHost()));
afterEach(async () => await host.close());

/** Builds n8n's own helpers. */
function buildHelpers() {
	const node: INode = {
		id: '1',
		name: 'Node',
		type: 'node',
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
	};
	const type = { description: { properties: [] } };
	const getType = () => type as never;
	const nodeTypes = { getByName: getType, getByNameAndVersion: getType, getKnownTypes: () => ({}) };
	const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
	const data = createRunExecutionData();
	const input = { node, data: { main: [[]] }, source: null };
	return new ExecuteContext(
		workflow,
		node,
		{ executionId: '1' } as never,
		'manual',
		data,
		0,
		[],
		input.data,
		input,
		[],
	).helpers;
}

/** Downloads what the host answers, and returns what came of it. A busy machine needs seconds where no answer is late. */
async function download(answer: Answer, timeoutSeconds = 5) {
	const getService = async () => ({ credentials: { baseUrl: host.url } });
	const source = { helpers: buildHelpers(), getService, settings: { timeoutSeconds } };
	const file = {
		url: `${host.url}/${answer}?name=/a.mp4`,
		label: 'task-result-1',
		name: 'a-red-fox',
		maxBytes: 1024 * 1024,
		together: { received: new Map(), maxBytes: Infinity },
	};
	const came = await fetchFile(source as unknown as FileSource, file).catch(
		({ message }: Error) => message,
	);
	// A connection ends a moment after it is left.
	for (let wait = 0; host.sockets.size && wait < 20; wait++) await sleep(10);
	return came;
}

it.each<[Answer, string]>([
	['closesEarly', 'broke off before the file was complete'],
	['closesEarlyCompressed', 'broke off before the file was complete'],
	['hugeChunk', 'broke off before the file was complete'],
	['hugeHeader', 'broke off the connection before it answered'],
	['slowHeaders', 'gave no answer within 0.5 s'],
	['pauses', 'sent nothing for 0.5 s'],
	['heldRefusal', 'refused'],
	['gzipBomb', 'is too large'],
])('gets no file of a host that answers %s, and leaves no connection open', async (answer, why) => {
	const timeoutSeconds = why.includes('0.5 s') ? 0.5 : undefined;
	expect(await download(answer, timeoutSeconds)).toContain(why);
	expect(host.requests.length).toBeGreaterThan(0);
	expect(host.sockets.size).toBe(0);
});

const video = { name: 'a-red-fox.mp4', mimeType: 'video/mp4' };
const text = { name: 'a-red-fox.txt', mimeType: 'text/plain' };

it.each<[Answer, object]>([
	['setsCookie', video],
	['path', video],
	['ownMethods', video],
	['script', text],
])('takes a file of a host that answers %s for what it is', async (answer, file) => {
	const downloaded = await download(answer);
	expect(downloaded).toMatchObject({ size: 3, ...file });
	const { name: fileName, mimeType } = downloaded as { name: string; mimeType: string };
	expect(downloaded).toMatchObject({ binary: { fileName, mimeType } });
	expect(downloaded).not.toHaveProperty('binary.directory');
	expect(host.requests.join()).not.toMatch(/\r\n(cookie|authorization):/i);
});
