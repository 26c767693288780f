import fs from 'node:fs';
import path from 'node:path';
import v8 from 'node:v8';
import vm from 'node:vm';
import { createEndedTask } from '../dev/fixtures/callbacks.cts';
import {
	chain,
	createAndWait,
	mediaGeneration,
	prompts,
	WAIT,
} from '../dev/fixtures/workflows.cts';
import { INSPECTABLE, measureLiveMemory } from '../dev/n8n/inspect.cts';
import type { WorkflowNode } from '../dev/n8n/workflow.cts';
import type { Service } from '../dev/service/index.cts';
import type * as boundedMap from '../nodes/MediaGeneration/api/boundedMap';
import type * as remembered from '../nodes/MediaGeneration/trigger/deduplicate';
import {
	buildHttpRequest,
	importFor,
	openFolder,
	openN8n,
	openService,
	requireBuilt,
} from './fixtures.cts';
import { computeMedians, interleave, type Row } from './measure.cts';

export const title = 'Memory';

const ROUNDS = 3;
const MEGABYTE = 1024 * 1024;
const UPLOAD = 100 * MEGABYTE;
const DOWNLOAD = 1024 * MEGABYTE;
const BATCHES = 3;
const PARKED = 1_000;
const TRIGGERS = 20;
const REMEMBERED = 1_000;
const ENDED = 5_000;

const readResidentMegabytes = (pid: number | undefined) =>
	Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

const formatMegabytes = (size: number) => `${size.toFixed(1)} MB`;

/** Builds the nodes that move a file of so many bytes. */
type Transfer = (bytes: number) => WorkflowNode[] | Promise<WorkflowNode[]>;

/** Builds what is compared: for each transfer, our nodes and those with HTTP Request. */
function buildTransfers(service: Service, folder: string) {
	const readFile = (bytes: number) => ({
		name: 'Read',
		type: 'n8n-nodes-base.readWriteFile',
		typeVersion: 1.1,
		parameters: { operation: 'read', fileSelector: path.join(folder, `${bytes}.mp4`), options: {} },
	});
	const upload: Transfer = (bytes) => [
		readFile(bytes),
		mediaGeneration({ resource: 'file', operation: 'upload' }),
	];
	const uploadByHttpRequest: Transfer = (bytes) => [
		readFile(bytes),
		buildHttpRequest({
			method: 'POST',
			url: `${service.url}/api/file-stream-upload`,
			sendBody: true,
			contentType: 'multipart-form-data',
			bodyParameters: {
				parameters: [
					{ name: 'uploadPath', value: 'bench' },
					{ name: 'fileName', value: 'bench.mp4' },
					{ parameterType: 'formBinaryData', name: 'file', inputDataFieldName: 'data' },
				],
			},
		}),
	];
	const download: Transfer = async (bytes) => {
		const taskId = await createEndedTask(service, { prompt: `#noCallback #bigFile=${bytes}` });
		return [
			mediaGeneration({ resource: 'task', operation: 'download', taskId, files: ['result'] }),
		];
	};
	const downloadByHttpRequest: Transfer = (bytes) => [
		buildHttpRequest({
			url: `${service.resultsUrl}/big/${bytes}.bin`,
			authentication: 'none',
			options: { response: { response: { responseFormat: 'file' } } },
		}),
	];
	return [
		{ name: '100 MB up', bytes: UPLOAD, ways: { ours: upload, theirs: uploadByHttpRequest } },
		{ name: '1 GB down', bytes: DOWNLOAD, ways: { ours: download, theirs: downloadByHttpRequest } },
	];
}

/** Measures peaks above idle, by our node and by HTTP Request. */
async function measureFiles() {
	using folder = openFolder();
	await using service = await openService();
	for (const bytes of [MEGABYTE, UPLOAD])
		fs.writeFileSync(path.join(folder.path, `${bytes}.mp4`), Buffer.alloc(bytes, 7));
	const rows: Row[] = [];
	for (const { name, bytes, ways } of buildTransfers(service, folder.path)) {
		const measurePeak = async (transfer: Transfer) => {
			await using n8n = await openN8n({
				N8N_RESTRICT_FILE_ACCESS_TO: folder.path,
				N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
			});
			const run = async (size: number) => {
				const id = await importFor(n8n, service, chain('Bench', await transfer(size)));
				const execution = await n8n.waitForExecution(await n8n.run(id), { timeout: 120_000 });
				if (execution.status !== 'success') throw new Error(execution.getError()?.message);
			};
			await run(MEGABYTE);
			const idle = readResidentMegabytes(n8n.pid);
			let highest = idle;
			const watch = setInterval(() => {
				highest = Math.max(highest, readResidentMegabytes(n8n.pid));
			}, 5);
			await run(bytes);
			clearInterval(watch);
			return highest - idle;
		};
		const peaks = await interleave(ways, { rounds: ROUNDS, warmUp: 0 }, measurePeak);
		const { ours, theirs } = computeMedians(peaks);
		rows.push({
			name: `${name}, peak above idle, of n8n's HTTP Request node`,
			value: ours / theirs,
			goal: { atMost: 1 },
			figures: `medians of ${ROUNDS}: ${formatMegabytes(ours)}, and ${formatMegabytes(theirs)} by HTTP Request`,
		});
	}
	return rows;
}

/** Measures n8n's heap while tasks are parked. */
async function measureParked(): Promise<Row> {
	await using service = await openService({ faultsFor: () => ({ neverEnds: true }) });
	await using n8n = await openN8n(INSPECTABLE);
	const prepare = async (...nodes: WorkflowNode[]) =>
		await importFor(n8n, service, chain('Bench', [prompts(PARKED), ...nodes]));
	const ours = await prepare(createAndWait());
	const theirs = await prepare(WAIT);
	const next = await prepare();
	/** Measures the MB that n8n holds on to when another execution has taken the place of the last one. */
	const measureHeld = async () => {
		await n8n.waitForExecution(await n8n.run(next));
		return await measureLiveMemory(n8n);
	};
	const park = async (id: string) =>
		await n8n.waitForExecution(await n8n.run(id), { until: ['waiting'], timeout: 300_000 });
	/** Measures the MB that n8n holds on to, and that the process has grown by, after batches were parked. */
	const measureGrowth = async (id: string) => {
		const before = await measureHeld();
		const residentBefore = readResidentMegabytes(n8n.pid);
		for (let batch = 0; batch < BATCHES; batch++) await park(id);
		return {
			live: (await measureHeld()) - before,
			resident: readResidentMegabytes(n8n.pid) - residentBefore,
		};
	};
	for (const id of [ours, theirs]) await park(id);
	const byWait = await measureGrowth(theirs);
	const byUs = await measureGrowth(ours);
	return {
		name: `Live heap of n8n for each of ${BATCHES * PARKED} parked tasks`,
		value: (byUs.live * 1024) / (BATCHES * PARKED),
		unit: 'kB',
		figures: `grown by ${formatMegabytes(byUs.live)} in ${BATCHES} batches (the process by ${formatMegabytes(byUs.resident)}), and by ${formatMegabytes(byWait.live)} (${formatMegabytes(byWait.resident)}) with as many items in n8n's Wait node`,
	};
}

/** Measures the kB that this process holds after so many additions, and after twice as many. */
function measureKept(additions: number, add: (index: number) => void) {
	v8.setFlagsFromString('--expose-gc');
	const collect = vm.runInNewContext('gc') as NodeJS.GCFunction;
	const readHeap = () => {
		collect();
		return process.memoryUsage().heapUsed / 1024;
	};
	const before = readHeap();
	const addFrom = (first: number) => {
		for (let index = first; index < first + additions; index++) add(index);
		return readHeap() - before;
	};
	return { atBound: addFrom(0), beyond: addFrom(additions) };
}

function measureRemembered(): Row {
	const { RememberedEvents } = requireBuilt('./trigger/deduplicate') as typeof remembered;
	const triggers = Array.from({ length: TRIGGERS }, (_, index) => ({
		name: `workflow:${index}`,
		staticData: {},
	}));
	const now = Math.floor(Date.now() / 1000);
	const { atBound, beyond } = measureKept(REMEMBERED, (index) => {
		for (const { name, staticData } of triggers) {
			new RememberedEvents(name, staticData, now).add(`task-${index}:taskCompleted`);
			JSON.stringify(staticData);
		}
	});
	return {
		name: `${REMEMBERED} remembered events of a trigger`,
		value: atBound / TRIGGERS,
		unit: 'kB',
		figures: `${(beyond / TRIGGERS).toFixed(0)} kB after twice as many; means of ${TRIGGERS} triggers`,
	};
}

function measureEnded(): Row {
	const { BoundedMap } = requireBuilt('./api/boundedMap') as typeof boundedMap;
	const ended = new BoundedMap(ENDED);
	const { atBound, beyond } = measureKept(ENDED, (index) => {
		const result = { resultUrls: [`https://files.media.example/results/${index}/result.png`] };
		ended.set(`https://api.media.example ${index}`, {
			taskId: `task-${index}`,
			model: 'beta2/image-edit',
			state: 'success',
			...result,
			result,
			status: 'completed',
			creditsConsumed: 12.5,
			createdAt: new Date().toISOString(),
			completedAt: new Date().toISOString(),
		});
	});
	// Used after the last look at the heap, so that it is not garbage by then.
	ended.clear();
	return {
		name: `${ENDED} ended tasks of parked batches, for all of a process`,
		value: atBound,
		unit: 'kB',
		figures: `${beyond.toFixed(0)} kB after twice as many; kept until their batch goes on`,
	};
}

/**
 * What the package costs in memory.
 *
 * Files: the peak of n8n's memory above idle while our node uploads 100 MB and downloads 1 GB, beside n8n's HTTP Request node
 * doing the same, in filesystem mode. Each run has an n8n of its own, which did the same with 1 MB before, so that what n8n
 * loads at first use does not count; rounds are interleaved. Reads /proc: Linux only.
 *
 * Parked tasks: n8n's heap after garbage was collected, before and after batches of 1,000 tasks were parked, beside n8n's
 * Wait node that holds as many items. n8n keeps a parked execution in its database, so little is to be seen.
 *
 * What we keep in memory, in this process and with the built code: the ids that a trigger remembers and the ended tasks of
 * parked batches, each at its bound.
 */
export const bench = async () => [
	measureRemembered(),
	measureEnded(),
	await measureParked(),
	...(await measureFiles()),
];
