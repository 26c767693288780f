import fs from 'node:fs';
import path from 'node:path';
import { startPackedN8n } from '../dev/fixtures/pair.cts';
import {
	chain,
	createAndWait,
	mediaGeneration,
	prompts,
	WAIT,
} from '../dev/fixtures/workflows.cts';
import { INSPECTABLE, measureLiveMemory } from '../dev/n8n/inspect.cts';
import type { WorkflowNode } from '../dev/n8n/workflow.cts';
import { openFolder } from '../dev/pack.cts';
import type { Service } from '../dev/service/index.cts';
import { buildDownloads, buildHttpRequest, importFor, openService, run } from './fixtures.cts';
import { compare, interleave, type Row } from './measure.cts';

const ROUNDS = 3;
const UPLOAD = 100;
const DOWNLOAD = 1000;
const BATCHES = 3;
const PARKED = 1_000;

/** Reads the resident memory of a process in MB, as it is or its peak. */
function readMegabytes(pid: number | undefined, which: 'VmRSS' | 'VmHWM') {
	const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
	return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

/** Builds the nodes that move a file of this size in MB: with our node, and with HTTP Request. */
type BuildTransfers = (
	service: Service,
	megabytes: number,
	folder: string,
) => Promise<Record<'ours' | 'theirs', WorkflowNode | WorkflowNode[]>>;

const buildUploads: BuildTransfers = async ({ url }, megabytes, folder) => {
	const file = path.join(folder, `${megabytes}.mp4`);
	fs.writeFileSync(file, Buffer.alloc(megabytes * 1e6, 7));
	const read = {
		name: 'Read',
		type: 'n8n-nodes-base.readWriteFile',
		typeVersion: 1.1,
		parameters: { operation: 'read', fileSelector: file, options: {} },
	};
	const upload = buildHttpRequest({
		method: 'POST',
		url: `${url}/api/file-stream-upload`,
		sendBody: true,
		contentType: 'multipart-form-data',
		bodyParameters: {
			parameters: [
				{ name: 'uploadPath', value: 'bench' },
				{ name: 'fileName', value: 'bench.mp4' },
				{ parameterType: 'formBinaryData', name: 'file', inputDataFieldName: 'data' },
			],
		},
	});
	const ours = mediaGeneration({ resource: 'file', operation: 'upload' });
	return { ours: [read, ours], theirs: [read, upload] };
};

/**
 * Measures peaks above idle, by our node and by HTTP Request, in filesystem mode. Each run has an n8n of its own, which did the
 * same with 1 MB before, so that what n8n loads at first use does not count. Reads /proc: Linux only.
 */
async function measureFiles(name: string, megabytes: number, build: BuildTransfers) {
	using folder = openFolder();
	await using service = await openService({ taskSeconds: 0 });
	const ways = { ours: 'ours', theirs: 'theirs' } as const;
	const peaks = await interleave(ways, { rounds: ROUNDS, warmUp: 0 }, async (way) => {
		await using n8n = await startPackedN8n({
			env: {
				N8N_RESTRICT_FILE_ACCESS_TO: folder.path,
				N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
			},
		});
		const move = async (size: number) =>
			await run(n8n, service, [(await build(service, size, folder.path))[way]].flat());
		await move(1);
		const idle = readMegabytes(n8n.pid, 'VmRSS');
		// Has Linux forget the peak so far.
		fs.writeFileSync(`/proc/${n8n.pid}/clear_refs`, '5');
		await move(megabytes);
		return readMegabytes(n8n.pid, 'VmHWM') - idle;
	});
	return compare(`${name}, peak above idle, of n8n's HTTP Request node`, peaks, {
		goal: { atMost: 1 },
		unit: 'MB',
	});
}

/**
 * Measures n8n's heap while tasks are parked, beside its Wait node with as many items. n8n keeps a parked execution in its
 * database, so little is to be seen.
 */
async function measureParked(): Promise<Row> {
	await using service = await openService({ faultsFor: () => ({ neverEnds: true }) });
	await using n8n = await startPackedN8n({ env: INSPECTABLE });
	const prepare = async (...nodes: WorkflowNode[]) =>
		await importFor(n8n, service, chain('Bench', [prompts(PARKED), ...nodes]));
	const next = await prepare();
	/** Measures the MB that n8n holds on to when another execution has taken the place of the last one. */
	const measureHeld = async () => {
		await n8n.waitForExecution(await n8n.run(next));
		return await measureLiveMemory(n8n);
	};
	/** Measures the MB that n8n holds on to after batches were parked, and one more before. */
	const measureGrowth = async (node: WorkflowNode) => {
		const id = await prepare(node);
		const park = async () => await n8n.waitForExecution(await n8n.run(id), { until: ['waiting'] });
		await park();
		const before = await measureHeld();
		for (let batch = 0; batch < BATCHES; batch++) await park();
		return (await measureHeld()) - before;
	};
	const theirs = await measureGrowth(WAIT);
	const ours = await measureGrowth(createAndWait());
	return {
		name: `Live heap of n8n for each of ${BATCHES * PARKED} parked tasks`,
		value: (ours * 1024) / (BATCHES * PARKED),
		unit: 'kB',
		figures: `grown by ${ours.toFixed(1)} MB in ${BATCHES} batches, and by ${theirs.toFixed(1)} MB with as many items in n8n's Wait node`,
	};
}

/** Measures memory: of parked tasks, and of files up and down. */
export const bench = async () => [
	await measureParked(),
	await measureFiles('100 MB up', UPLOAD, buildUploads),
	await measureFiles('1 GB down', DOWNLOAD, buildDownloads),
];
