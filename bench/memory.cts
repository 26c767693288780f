import fs from 'node:fs';
import path from 'node:path';
import { createEndedTask } from '../dev/fixtures/callbacks.cts';
import { startPackedN8n } from '../dev/fixtures/pair.cts';
import { chain, httpRequest, mediaGeneration } from '../dev/fixtures/workflows.cts';
import type { WorkflowNode } from '../dev/n8n/workflow.cts';
import { openFolder } from '../dev/pack.cts';
import type { Service } from '../dev/service/index.cts';
import { buildHttpRequest, importFor, openService } from './fixtures.cts';
import { compare, interleave } from './measure.cts';

const ROUNDS = 3;
const UPLOAD = 100;
const DOWNLOAD = 1000;

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

const buildDownloads: BuildTransfers = async (service, megabytes) => {
	const prompt = `#noCallback #fileSize=${megabytes}`;
	const taskId = await createEndedTask(service, { prompt });
	return {
		ours: mediaGeneration({ operation: 'download', taskId, files: ['result'] }),
		theirs: httpRequest({
			url: `${service.resultsUrl}/results/${taskId}/result.png`,
			options: { response: { response: { responseFormat: 'file' } } },
		}),
	};
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
		const move = async (size: number) => {
			const nodes = [(await build(service, size, folder.path))[way]].flat();
			const id = await importFor(n8n, service, chain('Bench', nodes));
			const execution = await n8n.waitForExecution(await n8n.run(id));
			if (execution.status !== 'success') throw new Error(execution.readError());
		};
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

/** Measures the memory that files take, up and down. */
export const bench = async () => [
	await measureFiles('100 MB up', UPLOAD, buildUploads),
	await measureFiles('1 GB down', DOWNLOAD, buildDownloads),
];
