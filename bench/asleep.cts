import { post, runConcurrently } from '../dev/fixtures/callbacks.cts';
import { startPackedN8n } from '../dev/fixtures/pair.cts';
import { connect, createAndWait, WAIT, webhook } from '../dev/fixtures/workflows.cts';
import { poll } from '../dev/n8n/wait.cts';
import type { WorkflowNode } from '../dev/n8n/workflow.cts';
import type { Service } from '../dev/service/index.cts';
import { buildHttpRequest, importFor, openService } from './fixtures.cts';
import { readProcessorTime, type Row } from './measure.cts';

const EXECUTIONS = 400;
/** How long each sleeps. */
const SECONDS = 150;
const AT_ONCE = 10;
const PATH = 'asleep';

/** Builds nodes that create a task, sleep until its callback comes, and read its details. */
type BuildNodes = (service: Service) => WorkflowNode[];

const buildOurs: BuildNodes = () => [
	createAndWait({ waitFor: 'callback', customInput: '{"prompt":"bench"}' }),
];

const buildByHand: BuildNodes = ({ url }) => [
	buildHttpRequest({
		method: 'POST',
		url: `${url}/api/v1/jobs/createTask`,
		sendBody: true,
		specifyBody: 'json',
		jsonBody:
			'={{ { model: "custom/any", callBackUrl: $execution.resumeUrl, input: { prompt: "bench" } } }}',
	}),
	WAIT,
	{
		...buildHttpRequest({
			url: `=${url}/api/v1/jobs/recordInfo?taskId={{ $("HTTP Request").first().json.data.taskId }}`,
		}),
		name: 'Details',
	},
];

/** Measures the processor time of an n8n of its own for each execution that a webhook starts, in milliseconds. */
async function measure(build: BuildNodes) {
	await using service = await openService({ taskSeconds: 1 });
	await using n8n = await startPackedN8n();
	const nodes = [webhook({ path: PATH }), ...build(service)];
	const workflowId = await importFor(n8n, service, connect('Asleep', nodes));
	await n8n.activate(workflowId);
	const start = async () => await post(n8n.buildWebhookUrl(PATH), {});
	await start();
	await n8n.waitForExecutions({ workflowId, count: 1 });

	service.set({ taskSeconds: SECONDS });
	const before = readProcessorTime(n8n.pid);
	await runConcurrently(Array.from({ length: EXECUTIONS }), AT_ONCE, start);
	await poll(() => service.tasks.size > EXECUTIONS, { what: 'all tasks' });
	await service.idle();
	const open = { workflowId, status: ['new', 'running', 'waiting'] };
	await poll(async () => (await n8n.listExecutions(open)).length === 0, { what: 'their ends' });
	const used = readProcessorTime(n8n.pid) - before;
	const ended = await n8n.listExecutions({ workflowId, status: 'success' });
	if (ended.length !== EXECUTIONS + 1) throw new Error(`${ended.length} executions succeeded`);
	return used / EXECUTIONS;
}

/** The processor time of n8n for executions that sleep until a callback, beside the same by hand, both at the same time. */
export async function bench(): Promise<Row[]> {
	const [ours, byHand] = await Promise.all([measure(buildOurs), measure(buildByHand)]);
	return [
		{
			name: `Processor time for an execution that sleeps ${SECONDS} s, of the flow by hand`,
			value: ours / byHand,
			goal: { atMost: 1.2 },
			figures: `${ours.toFixed(0)} ms, beside ${byHand.toFixed(0)} ms; means of ${EXECUTIONS} at once, each in an n8n of its own`,
		},
	];
}
