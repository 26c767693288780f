import { mean } from 'simple-statistics';
import { postJson, runConcurrently } from '../dev/fixtures/callbacks.cts';
import { startPackedN8n } from '../dev/fixtures/pair.cts';
import { connect, generate, httpRequest, WAIT, webhook } from '../dev/fixtures/workflows.cts';
import type { Log } from '../dev/log.cts';
import { poll } from '../dev/n8n/wait.cts';
import type { WorkflowNode } from '../dev/n8n/workflow.cts';
import type { Service } from '../dev/service/index.cts';
import { importFor, measureSettings, openService, type Bench } from './measure.cts';
import { forgetPeak, readMegabytes, readTime } from './process.cts';

const PAIRS = 5;
const EXECUTIONS = 200;
/** How long each task takes. n8n stores an execution that sleeps, and forgets it. */
const SECONDS = 90;
const AT_ONCE = 10;

/** Builds nodes that create a task, sleep until its callback comes, and read its details. */
type BuildNodes = (service: Service) => WorkflowNode[];

const buildOurs: BuildNodes = () => [
	generate({ anyInput: '{"prompt":"bench"}', options: { howToWait: 'callback' } }),
];

const account = {
	authentication: 'genericCredentialType',
	genericAuthType: 'httpHeaderAuth',
	options: {},
};
const credentials = { credentials: { httpHeaderAuth: {} } };

const buildByHand: BuildNodes = ({ url }) => [
	httpRequest(
		{
			...account,
			method: 'POST',
			url: `${url}/api/v1/jobs/createTask`,
			sendBody: true,
			specifyBody: 'json',
			jsonBody:
				'={{ { model: "custom/any", callBackUrl: $execution.resumeUrl, input: { prompt: "bench" } } }}',
		},
		credentials,
	),
	WAIT,
	{
		...httpRequest(
			{
				...account,
				url: `=${url}/api/v1/jobs/recordInfo?taskId={{ $("Request").first().json.data.taskId }}`,
			},
			credentials,
		),
		name: 'Details',
	},
];

/** What an execution that slept cost its n8n. */
interface Cost {
	/** Milliseconds of processor time. */
	time: number;
	/** Memory above idle, in MB. */
	peak: number;
	/** How long creating all tasks took, in seconds: more at once is more memory. */
	creation: number;
}

/** Measures executions that a webhook starts, in an n8n of their own. */
async function measure(build: BuildNodes, env: Record<string, string>): Promise<Cost> {
	await using service = await openService();
	await using n8n = await startPackedN8n({ env });
	const workflow = connect('Asleep', [webhook({ path: 'asleep' }), ...build(service)]);
	const workflowId = await importFor(n8n, service, workflow);
	await n8n.activate(workflowId);
	const start = async () => await postJson(n8n.buildWebhookUrl('asleep'), {});
	service.set({ taskSeconds: 1 });
	await start();
	await n8n.waitForExecutions({ workflowId, count: 1 });

	service.set({ taskSeconds: SECONDS });
	forgetPeak(n8n);
	const [time, idle, begun] = [readTime([n8n]), readMegabytes(n8n, 'VmRSS'), Date.now()];
	await runConcurrently(Array.from({ length: EXECUTIONS }), AT_ONCE, start);
	await poll(() => service.tasks.size > EXECUTIONS, { what: 'all tasks' });
	const creation = (Date.now() - begun) / 1000;
	await service.idle();
	const open = { workflowId, status: ['new', 'running', 'waiting'] };
	const isOver = async () => (await n8n.listExecutions(open)).length === 0;
	await poll(isOver, { what: 'their ends' });
	const used = readTime([n8n]) - time;
	const ended = await n8n.listExecutions({ workflowId, status: ['success'] });
	if (ended.length !== EXECUTIONS + 1) throw new Error(`${ended.length} executions succeeded`);
	return {
		time: used / EXECUTIONS,
		peak: readMegabytes(n8n, 'VmHWM') - idle,
		creation,
	};
}

const describeList = (values: number[], unit: string) =>
	`${mean(values).toFixed(0)} ${unit} (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)})`;

/** Describes the ratio of means, and how far the pairs lie apart. */
function describeRatio(ours: Cost[], byHand: Cost[]) {
	const times = (costs: Cost[]) => costs.map(({ time }) => time);
	const ratios = ours.map(({ time }, index) => time / Number(byHand[index]?.time));
	const tell = (costs: Cost[]) =>
		`${describeList(times(costs), 'ms')}, peak ${describeList(
			costs.map(({ peak }) => peak),
			'MB',
		)}, all created in ${describeList(
			costs.map(({ creation }) => creation),
			's',
		)}`;
	return [
		`Processor time of an execution that sleeps, of the flow by hand: ${(mean(times(ours)) / mean(times(byHand))).toFixed(2)}`,
		`  pairs ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}; ${ours.length} pairs of ${EXECUTIONS} executions, side by side`,
		`  ours ${tell(ours)}`,
		`  by hand ${tell(byHand)}`,
	];
}

/**
 * Measures the processor time of n8n for executions that sleep until a callback, beside HTTP
 * Request, Wait and HTTP Request. A pair runs at the same time, each in an n8n of its own.
 */
export const bench: Bench = async (log: Log) =>
	await measureSettings(async (env) => {
		const ours: Cost[] = [];
		const byHand: Cost[] = [];
		for (let pair = 1; pair <= PAIRS; pair++) {
			log(`pair ${pair} of ${PAIRS}`);
			const [own, other] = await Promise.all([measure(buildOurs, env), measure(buildByHand, env)]);
			ours.push(own);
			byHand.push(other);
		}
		return describeRatio(ours, byHand);
	});
