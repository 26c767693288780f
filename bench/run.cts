import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import execa from 'execa';
import { median, sum } from 'simple-statistics';
import { createEndedTask, postJson, runConcurrently } from '../dev/fixtures/callbacks.cts';
import {
	buildCredentialData,
	CREDENTIAL_TYPE,
	startPackedN8n,
	TOKEN,
} from '../dev/fixtures/pair.cts';
import {
	buildNode,
	connect,
	generate,
	buildHttpRequest,
	buildTriggered,
	WAIT,
	buildWebhook,
} from '../dev/fixtures/workflows.cts';
import { logFailure } from '../dev/log.cts';
import type { Credential, N8n } from '../dev/n8n/n8n.cts';
import { provideN8n } from '../dev/n8n/provide.cts';
import { startQueueN8n } from '../dev/n8n/queue.cts';
import { poll } from '../dev/n8n/wait.cts';
import type { Workflow, WorkflowNode } from '../dev/n8n/workflow.cts';
import { openFolder, pack } from '../dev/pack.cts';
import { startService, type Service } from '../dev/service/index.cts';
import { version } from '../package.json';

/**
 * Measures what our nodes cost beside n8n's own, in a real n8n on Linux. `npm run bench` runs all
 * cases, `npm run bench asleep` one, and with `--quick` in one small round, to see that it works.
 */

const isQuick = process.argv.includes('--quick');
const choose = (full: number, quick: number) => (isQuick ? quick : full);

const ROUNDS = choose(5, 1);

type Env = Record<string, string>;

/** Measures one round of a way to do something. Returns a number for each figure of the case. */
type Measure = (way: string) => Promise<number[]>;

interface Case {
	/** The ways of a round run at the same time, because a round takes minutes. */
	sideBySide?: boolean;
	ways: [ours: string, theirs: string];
	/** What the other way is called in the results. */
	other: string;
	/** The name and the unit of each figure. */
	figures: Array<[name: string, unit: string]>;
	/** Starts what the case needs, and lets the rounds run. */
	run: (rounds: (measure: Measure) => Promise<void>, env: Env) => Promise<void>;
}

/**
 * By default n8n sets up an isolate for expressions before it calls a webhook, for each credential
 * that the webhook reads, and for each execution. With lazy isolates, only an expression sets one up.
 */
const SETTINGS = {
	'n8n as it comes': {},
	'lazy isolates': { N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' },
};

const CASES: Record<string, Case> = {
	/** What an execution costs that sleeps until a callback comes. */
	asleep: {
		sideBySide: true,
		ways: ['ours', 'byHand'],
		other: 'HTTP Request, Wait, HTTP Request',
		figures: [
			['Processor time of an execution that sleeps', 'ms'],
			['Peak of memory above idle', 'MB'],
			['Time until all tasks are created', 's'],
		],
		run: runAsleep,
	},
	/** What a callback costs in queue mode, for the arithmetic of docs/running-n8n.md. */
	queue: {
		ways: ['withDetails', 'bare'],
		other: "n8n's bare Webhook node",
		figures: [
			['Processor time of the webhook process per callback', 'ms'],
			['Processor time of the worker per execution', 'ms'],
			['Rows written to the database per callback', 'rows'],
		],
		run: runQueue,
	},
};

/** Starts an emulator with credits for any number of tasks, which end at once. */
const openService = async () => await startService({ credits: 1e9, taskSeconds: 0 });

/** Saves a workflow with the credentials that its nodes need. Returns its ID. */
async function importFor(n8n: N8n, service: Service, workflow: Workflow) {
	const credentials: Record<string, Credential> = {};
	for (const [type, data] of Object.entries({
		[CREDENTIAL_TYPE]: buildCredentialData(service),
		httpHeaderAuth: { name: 'Authorization', value: `Bearer ${TOKEN}` },
	}))
		credentials[type] = await n8n.createCredential({ name: 'Bench', type, data });
	return (await n8n.importWorkflow(workflow, { credentials })).id;
}

/** Builds n8n's node that sends a request to the service. */
const buildRequest = (name: string, parameters: object) =>
	buildHttpRequest(
		{ authentication: 'genericCredentialType', genericAuthType: 'httpHeaderAuth', ...parameters },
		{ name, credentials: { httpHeaderAuth: {} } },
	);

const buildDetailsNode = ({ url }: Service, taskId: string) =>
	buildRequest('Details', { url: `=${url}/api/v1/jobs/recordInfo?taskId={{ ${taskId} }}` });

// The receivers of callbacks. Both end in a node that does nothing.

const CALLBACKS = choose(40, 4);
const IN_FLIGHT = 8;

const RECEIVERS: Record<string, () => WorkflowNode[]> = {
	withDetails: () => buildTriggered().nodes,
	bare: () => [buildWebhook({ responseMode: 'onReceived' })],
};

/** A receiver's workflow, and the URL that callbacks to it are sent to. */
interface Receiver {
	id: string;
	url: string;
}

async function activate(n8n: N8n, service: Service) {
	const receivers: Record<string, Receiver> = {};
	for (const [name, build] of Object.entries(RECEIVERS)) {
		const nodes = [...build(), buildNode('End', 'n8n-nodes-base.noOp', 1)];
		const id = await importFor(n8n, service, connect(name, nodes));
		await n8n.activate(id);
		receivers[name] = { id, url: await n8n.getProductionWebhookUrl(id) };
	}
	return receivers;
}

/** Sends genuine callbacks, and waits until all of their executions are over. */
async function sendCallbacks(n8n: N8n, service: Service, receiver?: Receiver) {
	if (!receiver) throw new Error('There is no such receiver');
	const { id, url } = receiver;
	const tasks = await runConcurrently(Array.from({ length: CALLBACKS }), IN_FLIGHT, () =>
		createEndedTask(service),
	);
	const begun = Date.now();
	await runConcurrently(tasks, IN_FLIGHT, async (taskId) => {
		const { status, body } = await service.sendCallback(taskId, { url: `${url}?task=${taskId}` });
		if (status !== 200) throw new Error(`A callback was answered ${status}: ${body}`);
	});
	const filter = {
		workflowId: id,
		status: ['success'],
		startedAfter: new Date(begun).toISOString(),
	};
	const areOver = async () => (await n8n.listExecutions(filter)).length === CALLBACKS;
	await poll(areOver, { what: 'the executions of a round' });
}

const WRITTEN =
	'select tup_inserted + tup_updated + tup_deleted from pg_stat_database where datname = current_database()';

async function runQueue(rounds: (measure: Measure) => Promise<void>, env: Env) {
	using folder = openFolder();
	await using service = await openService();
	const { tarball } = await pack(folder.path);
	await using queue = await startQueueN8n({
		tarball,
		env: { DB_POSTGRESDB_POOL_SIZE: '10', ...env },
		log: console.log,
	});
	const { n8n, webhooks, workers, query } = queue;
	const receivers = await activate(n8n, service);
	// What n8n loads at first use doesn't count.
	for (const receiver of Object.values(receivers)) await sendCallbacks(n8n, service, receiver);
	const readUsed = () => [readTime(webhooks), readTime(workers), Number(query(WRITTEN))];
	await rounds(async (way) => {
		const before = readUsed();
		await sendCallbacks(n8n, service, receivers[way]);
		// PostgreSQL's statistics are up to a second behind.
		await sleep(1500);
		return readUsed().map((used, index) => (used - Number(before[index])) / CALLBACKS);
	});
}

// Executions that sleep.

const EXECUTIONS = choose(200, 5);
const AT_ONCE = 10;
/** How long each task takes. Meanwhile n8n has stored the executions that sleep, and forgotten them. */
const TASK_SECONDS = choose(150, 10);

/** The nodes that create a task, sleep until its callback comes, and read its details. */
const SLEEPERS: Record<string, (service: Service) => WorkflowNode[]> = {
	ours: () => [generate({ anyInput: '{"prompt":"bench"}', options: { howToWait: 'callback' } })],
	byHand: (service) => [
		buildRequest('Request', {
			method: 'POST',
			url: `${service.url}/api/v1/jobs/createTask`,
			sendBody: true,
			specifyBody: 'json',
			jsonBody:
				'={{ { model: "custom/any", callBackUrl: $execution.resumeUrl, input: { prompt: "bench" } } }}',
			options: {},
		}),
		WAIT,
		buildDetailsNode(service, '$("Request").first().json.data.taskId'),
	],
};

async function runAsleep(rounds: (measure: Measure) => Promise<void>, env: Env) {
	await rounds(async (way) => {
		await using service = await openService();
		await using n8n = await startPackedN8n({ env });
		const nodes = [buildWebhook({ path: 'asleep' }), ...(SLEEPERS[way]?.(service) ?? [])];
		const workflowId = await importFor(n8n, service, connect('Asleep', nodes));
		await n8n.activate(workflowId);
		const start = async () => await postJson(n8n.buildWebhookUrl('asleep'), {});
		// What n8n loads at first use doesn't count.
		service.set({ taskSeconds: 1 });
		await start();
		await n8n.waitForExecutions({ workflowId, count: 1 });

		service.set({ taskSeconds: TASK_SECONDS });
		forgetPeak(n8n);
		const [time, idle, begun] = [readTime([n8n]), readMegabytes(n8n, 'VmRSS'), Date.now()];
		await runConcurrently(Array.from({ length: EXECUTIONS }), AT_ONCE, start);
		await poll(() => service.tasks.size > EXECUTIONS, { what: 'all tasks' });
		const creation = (Date.now() - begun) / 1000;
		await service.waitUntilIdle();
		const open = { workflowId, status: ['new', 'running', 'waiting'] };
		const isOver = async () => (await n8n.listExecutions(open)).length === 0;
		await poll(isOver, { what: 'their ends' });
		const used = readTime([n8n]) - time;
		const ended = await n8n.listExecutions({ workflowId, status: ['success'] });
		if (ended.length !== EXECUTIONS + 1) throw new Error(`${ended.length} executions succeeded`);
		return [used / EXECUTIONS, readMegabytes(n8n, 'VmHWM') - idle, creation];
	});
}

// Figures of processes, from Linux.

interface Process {
	pid?: number;
}

const TICKS_PER_SECOND = 100;

/** Reads the milliseconds of processor time that processes have used. */
const readTime = (processes: Process[]) =>
	sum(
		processes.map(({ pid }) => {
			const [, fields = ''] = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
			const [user = NaN, system = NaN] = fields.split(' ').slice(11, 13).map(Number);
			return ((user + system) * 1000) / TICKS_PER_SECOND;
		}),
	);

/** Reads the resident memory of a process in MB, as it is or its peak. */
function readMegabytes({ pid }: Process, which: 'VmRSS' | 'VmHWM') {
	const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
	return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

/** Has Linux forget the peak of a process so far. */
const forgetPeak = ({ pid }: Process) => fs.writeFileSync(`/proc/${pid}/clear_refs`, '5');

// Rounds and results.

/**
 * Runs a case's ways in interleaved rounds, in their order and then in the opposite one, so that a
 * machine that is slower for a moment is so for all.
 * @returns the figures of each way, ours first, one list for each round
 */
async function runRounds({ ways, sideBySide }: Case, measure: Measure) {
	const results = new Map<string, number[][]>(ways.map((way) => [way, []]));
	const order = [...ways];
	for (let round = 1; round <= ROUNDS; round++) {
		console.log(`round ${round} of ${ROUNDS}`);
		const run = async (way: string) => {
			results.get(way)?.push(await measure(way));
		};
		if (sideBySide) await Promise.all(order.map(run));
		else for (const way of order) await run(way);
		order.reverse();
	}
	return ways.map((way) => results.get(way) ?? []);
}

/** Describes the ratio of two medians, and how far the rounds lie apart. */
function compare(name: string, unit: string, ours: number[], theirs: number[]) {
	const ratios = ours.map((own, round) => own / Number(theirs[round]));
	const format = (ratio: number) => ratio.toPrecision(ratio < 1 ? 2 : 3);
	const range = `rounds ${format(Math.min(...ratios))} to ${format(Math.max(...ratios))}`;
	const [own, other] = [median(ours), median(theirs)];
	const figures = `${own.toFixed(1)} ${unit}, beside ${other.toFixed(1)} ${unit}`;
	return `${name}: ${format(own / other)}\n  ${figures}; medians of ${ours.length}, ${range}`;
}

async function runCase(one: Case) {
	const lines: string[] = [];
	for (const [setting, env] of Object.entries<Env>(SETTINGS)) {
		lines.push(`${setting}:`);
		await one.run(async (measure) => {
			const results = await runRounds(one, measure);
			for (const [index, [name, unit]] of one.figures.entries()) {
				const [ours = [], theirs = []] = results.map((rounds) =>
					rounds.map((figures) => Number(figures[index])),
				);
				lines.push(compare(`${name}, of ${one.other}`, unit, ours, theirs));
			}
		}, env);
	}
	return lines.join('\n');
}

/** Describes what the figures are measured on. */
async function describeMachine() {
	const n8n = await provideN8n(console.log);
	const { stdout: node } = execa.sync(n8n.node, ['--version']);
	const [processor] = os.cpus();
	const gigabytes = Math.round(os.totalmem() / 2 ** 30);
	return [
		`${os.cpus().length} cores of ${processor?.model}, ${gigabytes} GB of memory`,
		`n8n ${n8n.version} on Node ${node}, n8n-nodes-media-generation ${version}`,
		new Date().toISOString().slice(0, 10),
	].join('\n');
}

/** Runs the named cases, or all. Writes what it prints to `results`, a file for each case. */
async function main() {
	const machine = await describeMachine();
	const named = process.argv.slice(2).filter((argument) => argument !== '--quick');
	for (const name of named.length ? named : Object.keys(CASES)) {
		const one = CASES[name];
		if (!one) throw new Error(`The cases are ${Object.keys(CASES).join(', ')}`);
		console.log(`\n${name}`);
		const text = `${name}\n\n${machine}\n\n${await runCase(one)}\n`;
		console.log(text);
		if (!isQuick) fs.writeFileSync(path.join(__dirname, 'results', `${name}.txt`), text);
	}
}

main().catch(logFailure);
