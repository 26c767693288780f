const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');
const { INSPECTABLE, measureLiveMemory } = require('../dev/n8n/inspect.cts');
const { startN8n } = require('../dev/n8n/n8n.cts');
const { pack } = require('../dev/pack.cts');
const {
	WAIT,
	chain,
	createAndWait,
	mediaGeneration,
	prompts,
} = require('../dev/fixtures/workflows.cts');
const { importFor, richService, withN8n } = require('./pair.cts');
const { median } = require('./statistics.cts');

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
const ROUNDS = 3;
const MEGABYTE = 1024 * 1024;
const UPLOAD = 100 * MEGABYTE;
const DOWNLOAD = 1024 * MEGABYTE;
const BATCHES = 3;
const PARKED = 1_000;
const TRIGGERS = 20;
const REMEMBERED = 1_000;
const ENDED = 5_000;

const NODES = path.join(__dirname, '../dist/nodes/MediaGeneration');

const residentMegabytes = (/** @type {number | undefined} */ pid) =>
	Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

const mb = (/** @type {number} */ size) => `${size.toFixed(1)} MB`;

/** @typedef {(bytes: number) => any[]} Nodes */
/** @typedef {{ name: string, bytes: number, ours: Nodes, theirs: Nodes }} Transfer */

/**
 * What is sent and fetched, by our node and by HTTP Request.
 * @param {import('./pair.cts').Service} service
 * @param {(bytes: number) => string} fileOf
 * @returns {Transfer[]}
 */
function transfersOf(service, fileOf) {
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
		credentials: { httpHeaderAuth: {} },
	});
	const urlOf = (/** @type {number} */ bytes) => `${service.resultsUrl}/big/${bytes}.bin`;

	return [
		{
			name: '100 MB up',
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
					authentication: 'genericCredentialType',
					genericAuthType: 'httpHeaderAuth',
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
		{
			name: '1 GB down',
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
	];
}

/**
 * Peaks above idle, by our node and by HTTP Request.
 * @returns {Promise<import('./run.cts').Row[]>}
 */
async function files() {
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-bench-'));
	const service = await richService();
	const { tarball } = await pack(folder);
	const fileOf = (/** @type {number} */ bytes) => path.join(folder, `${bytes}.mp4`);
	for (const bytes of [MEGABYTE, UPLOAD]) fs.writeFileSync(fileOf(bytes), Buffer.alloc(bytes, 7));

	/** The peak above idle of one run, in MB. */
	const peak = async (/** @type {Nodes} */ nodes, /** @type {number} */ bytes) => {
		const n8n = await startN8n({
			tarball,
			env: { N8N_RESTRICT_FILE_ACCESS_TO: folder, N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' },
		});
		try {
			const run = async (/** @type {number} */ size) => {
				const id = await importFor(n8n, service, chain('Bench', nodes(size)));
				const execution = await n8n.waitForExecution(await n8n.run(id), { timeout: 120_000 });
				if (execution.status !== 'success') throw new Error(execution.getError()?.message);
			};
			await run(MEGABYTE);
			const idle = residentMegabytes(n8n.pid);
			let highest = idle;
			const watch = setInterval(() => {
				highest = Math.max(highest, residentMegabytes(n8n.pid));
			}, 5);
			await run(bytes);
			clearInterval(watch);
			return highest - idle;
		} finally {
			await n8n.stop();
		}
	};

	try {
		const rows = [];
		for (const { name, bytes, ours, theirs } of transfersOf(service, fileOf)) {
			/** @type {{ ours: number[], theirs: number[] }} */
			const peaks = { ours: [], theirs: [] };
			for (let round = 0; round < ROUNDS; round++) {
				peaks.ours.push(await peak(ours, bytes));
				peaks.theirs.push(await peak(theirs, bytes));
			}
			rows.push({
				name: `${name}, peak above idle, of n8n's HTTP Request node`,
				value: median(peaks.ours) / median(peaks.theirs),
				goal: { atMost: 1 },
				figures: `medians of ${ROUNDS}: ${mb(median(peaks.ours))}, and ${mb(median(peaks.theirs))} by HTTP Request`,
			});
		}
		return rows;
	} finally {
		await service.close();
		fs.rmSync(folder, { recursive: true, force: true });
	}
}

/**
 * n8n's heap while tasks are parked.
 * @returns {Promise<import('./run.cts').Row[]>}
 */
async function parked() {
	return await withN8n(async (n8n) => {
		const service = await richService({ faultsFor: () => ({ neverEnds: true }) });
		try {
			const ways = {
				ours: await importFor(n8n, service, chain('Ours', [prompts(PARKED), createAndWait()])),
				theirs: await importFor(n8n, service, chain('Wait', [prompts(PARKED), WAIT])),
			};
			const next = await importFor(n8n, service, chain('Next', [prompts(PARKED)]));
			/** What n8n holds on to, in MB, when another execution has taken the place of the last one. */
			const held = async () => {
				await n8n.waitForExecution(await n8n.run(next));
				return await measureLiveMemory(n8n);
			};
			const park = async (/** @type {string} */ id) =>
				await n8n.waitForExecution(await n8n.run(id), { until: ['waiting'], timeout: 300_000 });
			/** Megabytes that n8n holds on to, and that the process has grown by, after batches were parked. */
			const grown = async (/** @type {string} */ id) => {
				const before = await held();
				const residentBefore = residentMegabytes(n8n.pid);
				for (let batch = 0; batch < BATCHES; batch++) await park(id);
				return {
					live: (await held()) - before,
					resident: residentMegabytes(n8n.pid) - residentBefore,
				};
			};
			for (const id of Object.values(ways)) await park(id);
			const theirs = await grown(ways.theirs);
			const ours = await grown(ways.ours);
			return [
				{
					name: `Live heap of n8n for each of ${BATCHES * PARKED} parked tasks`,
					value: (ours.live * 1024) / (BATCHES * PARKED),
					unit: 'kB',
					figures: `grown by ${mb(ours.live)} in ${BATCHES} batches (the process by ${mb(ours.resident)}), and by ${mb(theirs.live)} (${mb(theirs.resident)}) with as many items in n8n's Wait node`,
				},
			];
		} finally {
			await service.close();
		}
	}, INSPECTABLE);
}

/**
 * What our own memory holds at its bounds.
 * @returns {Promise<import('./run.cts').Row[]>}
 */
async function kept() {
	v8.setFlagsFromString('--expose-gc');
	const collect = vm.runInNewContext('gc');
	const live = () => {
		collect();
		return process.memoryUsage().heapUsed / 1024;
	};
	/** @type {typeof import('../nodes/MediaGeneration/trigger/remembered')} */
	const { RememberedEvents } = require(path.join(NODES, 'trigger/remembered'));
	/** @type {typeof import('../nodes/MediaGeneration/callback/boundedMap')} */
	const { BoundedMap } = require(path.join(NODES, 'callback/boundedMap'));

	const triggers = Array.from({ length: TRIGGERS }, (_, index) => ({
		name: `workflow:${index}`,
		staticData: /** @type {import('n8n-workflow').IDataObject} */ {},
	}));
	const now = Math.floor(Date.now() / 1000);
	const addEvents = (/** @type {number} */ from, /** @type {number} */ to) => {
		for (const { name, staticData } of triggers)
			for (let index = from; index < to; index++) {
				new RememberedEvents(name, staticData, now).add(`task-${index}:taskCompleted`);
				JSON.stringify(staticData);
			}
	};
	const before = live();
	addEvents(0, REMEMBERED);
	const atBound = (live() - before) / TRIGGERS;
	addEvents(REMEMBERED, 2 * REMEMBERED);
	const beyond = (live() - before) / TRIGGERS;

	const ended = new BoundedMap(ENDED);
	const addTasks = (/** @type {number} */ from, /** @type {number} */ to) => {
		for (let index = from; index < to; index++) {
			const result = { resultUrls: [`https://files.media.example/results/${index}/result.png`] };
			const task = { taskId: `task-${index}`, model: 'beta2/image-edit', state: 'success' };
			ended.set(`https://api.media.example ${index}`, {
				...task,
				...result,
				result,
				status: 'completed',
				creditsConsumed: 12.5,
				createdAt: new Date().toISOString(),
				completedAt: new Date().toISOString(),
			});
		}
	};
	const beforeTasks = live();
	addTasks(0, ENDED);
	const tasksAtBound = live() - beforeTasks;
	addTasks(ENDED, 2 * ENDED);
	const tasksBeyond = live() - beforeTasks;
	// Used after the last look at the heap, so that it is not garbage by then.
	ended.clear();

	const kb = (/** @type {number} */ size) => `${size.toFixed(0)} kB`;
	return [
		{
			name: `${REMEMBERED} remembered events of a trigger`,
			value: atBound,
			unit: 'kB',
			figures: `${kb(beyond)} after twice as many; means of ${TRIGGERS} triggers`,
		},
		{
			name: `${ENDED} ended tasks of parked batches, for all of a process`,
			value: tasksAtBound,
			unit: 'kB',
			figures: `${kb(tasksBeyond)} after twice as many; kept until their batch goes on`,
		},
	];
}

async function bench() {
	return [...(await kept()), ...(await parked()), ...(await files())];
}

module.exports = { title: 'Memory', bench };
