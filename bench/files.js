const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { startN8n } = require('../dev/n8n/n8n');
const { pack } = require('../dev/pack');
const { startService } = require('../dev/service');
const { chain, mediaGeneration } = require('../test/e2e/workflows');
const { median } = require('./statistics');

/**
 * The peak of n8n's memory above idle while our node uploads 100 MB and downloads 1 GB, beside n8n's HTTP Request node
 * doing the same, in filesystem mode. Each run has an n8n of its own, which did the same with 1 MB before, so that what n8n
 * loads at first use does not count; rounds are interleaved. Reads /proc: Linux only.
 */
const ROUNDS = 3;
const MEGABYTE = 1024 * 1024;
const UPLOAD = 100 * MEGABYTE;
const DOWNLOAD = 1024 * MEGABYTE;

const residentMegabytes = (/** @type {number} */ pid) =>
	Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

async function main() {
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-bench-'));
	const service = await startService();
	const { tarball } = await pack(folder);
	const fileOf = (/** @type {number} */ bytes) => path.join(folder, `${bytes}.mp4`);
	for (const bytes of [MEGABYTE, UPLOAD]) fs.writeFileSync(fileOf(bytes), Buffer.alloc(bytes, 7));

	const readFile = (/** @type {number} */ bytes) => ({
		name: 'Read',
		type: 'n8n-nodes-base.readWriteFile',
		typeVersion: 1.1,
		parameters: { operation: 'read', fileSelector: fileOf(bytes), options: {} },
	});
	const httpRequest = (/** @type {object} */ parameters) => ({
		name: 'HTTP Request',
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: 4.2,
		parameters,
	});
	const urlOf = (/** @type {number} */ bytes) => `${service.resultsUrl}/big/${bytes}.bin`;

	/** @typedef {(bytes: number) => any[]} Nodes */
	/** @type {Record<string, { bytes: number, ours: Nodes, theirs: Nodes }>} */
	const rows = {
		'100 MB up': {
			bytes: UPLOAD,
			ours: (bytes) => [
				readFile(bytes),
				mediaGeneration({ resource: 'file', operation: 'upload' }),
			],
			theirs: (bytes) => [
				readFile(bytes),
				httpRequest({
					method: 'POST',
					url: `${service.url}/api/file-stream-upload`,
					sendHeaders: true,
					headerParameters: { parameters: [{ name: 'Authorization', value: 'Bearer dev-token' }] },
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
			],
		},
		'1 GB down': {
			bytes: DOWNLOAD,
			ours: (bytes) => [
				{
					name: 'Task',
					type: 'n8n-nodes-base.set',
					typeVersion: 3.4,
					parameters: {
						mode: 'raw',
						jsonOutput: JSON.stringify({
							taskId: 'bench',
							status: 'completed',
							result: { resultUrls: [urlOf(bytes)] },
						}),
						options: {},
					},
				},
				mediaGeneration({
					resource: 'task',
					operation: 'download',
					taskId: 'bench',
					files: ['result'],
				}),
			],
			theirs: (bytes) => [
				httpRequest({
					url: urlOf(bytes),
					options: { response: { response: { responseFormat: 'file' } } },
				}),
			],
		},
	};

	/** The peak above idle of one run, in MB. */
	const peak = async (/** @type {Nodes} */ nodes, /** @type {number} */ bytes) => {
		const n8n = await startN8n({
			tarball,
			env: { N8N_RESTRICT_FILE_ACCESS_TO: folder, N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' },
		});
		try {
			const credential = await n8n.createCredential({
				name: 'Bench',
				type: 'mediaGenerationApi',
				data: { baseUrl: service.url, accessToken: 'dev-token' },
			});
			const run = async (/** @type {number} */ size) => {
				const { id } = await n8n.importWorkflow(chain('Bench', nodes(size)), {
					credentials: { mediaGenerationApi: credential },
				});
				const execution = await n8n.waitForExecution(await n8n.run(id), { timeout: 120_000 });
				if (execution.status !== 'success') throw new Error(execution.error()?.message);
			};
			await run(MEGABYTE);
			const idle = residentMegabytes(Number(n8n.pid));
			let highest = idle;
			const watch = setInterval(() => {
				highest = Math.max(highest, residentMegabytes(Number(n8n.pid)));
			}, 5);
			await run(bytes);
			clearInterval(watch);
			return highest - idle;
		} finally {
			await n8n.stop();
		}
	};

	try {
		for (const [name, row] of Object.entries(rows)) {
			/** @type {{ ours: number[], theirs: number[] }} */
			const peaks = { ours: [], theirs: [] };
			for (let round = 0; round < ROUNDS; round++) {
				peaks.ours.push(await peak(row.ours, row.bytes));
				peaks.theirs.push(await peak(row.theirs, row.bytes));
			}
			const ratio = median(peaks.ours) / median(peaks.theirs);
			console.log(
				`${name}: ${ratio.toFixed(2)} of n8n's HTTP Request node (peaks above idle, medians of ${ROUNDS}: ` +
					`${median(peaks.ours).toFixed(0)} MB and ${median(peaks.theirs).toFixed(0)} MB)`,
			);
		}
	} finally {
		await service.close();
		fs.rmSync(folder, { recursive: true, force: true });
	}
}

main().catch((error) => {
	console.error(error);
	process.exitCode = 1;
});
