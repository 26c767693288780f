import fs from 'node:fs';
import path from 'node:path';
import { createEndedTask } from '../dev/fixtures/callbacks.cts';
import { startPackedN8n } from '../dev/fixtures/pair.cts';
import { chain, httpRequest, mediaGeneration } from '../dev/fixtures/workflows.cts';
import type { Log } from '../dev/log.cts';
import type { WorkflowNode } from '../dev/n8n/workflow.cts';
import { openFolder } from '../dev/pack.cts';
import type { Service } from '../dev/service/index.cts';
import { compare, importFor, interleave, openService, type Bench } from './measure.cts';
import { forgetPeak, readMegabytes } from './process.cts';

const ROUNDS = 3;

/** Builds the nodes that move a file of this size in MB: with our node, and with HTTP Request. */
type BuildTransfers = (
	service: Service,
	megabytes: number,
	folder: string,
) => Promise<Record<'ours' | 'theirs', WorkflowNode[]>>;

const buildUploads: BuildTransfers = async ({ url }, megabytes, folder) => {
	const fileSelector = path.join(folder, `${megabytes}.mp4`);
	fs.writeFileSync(fileSelector, Buffer.alloc(megabytes * 1e6, 7));
	const read = {
		name: 'Read',
		type: 'n8n-nodes-base.readWriteFile',
		typeVersion: 1.1,
		parameters: { operation: 'read', fileSelector, options: {} },
	};
	const parameters = {
		authentication: 'genericCredentialType',
		genericAuthType: 'httpHeaderAuth',
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
	};
	return {
		ours: [read, mediaGeneration({ resource: 'file', operation: 'upload' })],
		theirs: [read, httpRequest(parameters, { credentials: { httpHeaderAuth: {} } })],
	};
};

const buildDownloads: BuildTransfers = async (service, megabytes) => {
	const prompt = `#noCallback #fileSize=${megabytes}`;
	const taskId = await createEndedTask(service, { prompt });
	const url = `${service.resultsUrl}/results/${taskId}/result.png`;
	const options = { response: { response: { responseFormat: 'file' } } };
	return {
		ours: [mediaGeneration({ operation: 'getFiles', taskId, files: ['result'] })],
		theirs: [httpRequest({ url, options })],
	};
};

/**
 * Measures peaks above idle, by our node and by HTTP Request, in filesystem mode. Each run has an n8n of its own, which did the
 * same with 1 MB before, so that what n8n loads at first use does not count.
 */
async function measureFiles(name: string, megabytes: number, build: BuildTransfers, log: Log) {
	using folder = openFolder();
	await using service = await openService();
	const ways = { ours: 'ours', theirs: 'theirs' } as const;
	const peaks = await interleave(ways, { rounds: ROUNDS, warmUp: 0, log }, async (way) => {
		await using n8n = await startPackedN8n({
			env: {
				N8N_RESTRICT_FILE_ACCESS_TO: folder.path,
				N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
			},
		});
		const move = async (size: number) => {
			const nodes = (await build(service, size, folder.path))[way];
			const id = await importFor(n8n, service, chain('Bench', nodes));
			const execution = await n8n.waitForExecution(await n8n.run(id));
			if (execution.status !== 'success') throw new Error(execution.readError());
		};
		await move(1);
		const idle = readMegabytes(n8n, 'VmRSS');
		forgetPeak(n8n);
		await move(megabytes);
		return readMegabytes(n8n, 'VmHWM') - idle;
	});
	const title = `${name}, peak above idle, of n8n's HTTP Request node`;
	return compare(title, peaks.ours, peaks.theirs, 'MB');
}

/** Measures the memory that files take, up and down. */
export const bench: Bench = async (log) => [
	await measureFiles('100 MB up', 100, buildUploads, log),
	await measureFiles('1 GB down', 1000, buildDownloads, log),
];
