import { expect } from '@jest/globals';
import type { INodeExecutionData } from 'n8n-workflow';
import {
	callWorkflow,
	chain,
	connect,
	createAndWait,
	NODE,
	NODE_TYPE,
	prompts,
	WHEN_CALLED,
} from '../../dev/fixtures/workflows.cts';
import { evaluate } from '../../dev/n8n/inspect.cts';
import { isOldest, usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.5 } });

/** n8n's time-out, in seconds. */
const TIMEOUT = 8;

interface ExecutedNode {
	status: 'success' | 'error';
	output?: INodeExecutionData[][];
	error?: { message: string };
}

/** Has the service of n8n's AI assistant execute our node alone, as its tool `nodes` does it. */
async function executeNode(parameters: Record<string, unknown>, texts: string[]) {
	const { typeVersion, parameters: given } = createAndWait(parameters);
	const { id, name } = pair.credential;
	const request = {
		type: NODE_TYPE,
		version: typeVersion,
		config: { parameters: given, credentials: { mediaGenerationApi: { id, name } } },
		input: texts.map((prompt) => ({ json: { prompt } })),
		timeoutMs: TIMEOUT * 1_000,
	};
	return await evaluate<ExecutedNode>(
		pair.n8n,
		`{
			const { Container } = load('@n8n/di');
			const { ProjectRepository, UserRepository } = load('@n8n/db');
			const { ExecuteNodeService } = load('./node-execution/execute-node.service');
			const user = await Container.get(UserRepository).findOneOrFail({
				where: { email: ${JSON.stringify(pair.n8n.owner.email)} },
				relations: ['role'],
			});
			const project = await Container.get(ProjectRepository).getPersonalProjectForUserOrFail(user.id);
			return await Container.get(ExecuteNodeService).run(user, {
				...${JSON.stringify(request)},
				projectId: project.id,
			});
		}`,
	);
}

/** Of 2.41; the oldest n8n has no such service. */
(isOldest ? describe.skip : describe)('"Execute node" of n8n', () => {
	it('outputs what has ended before its time-out, and the ID of what has not, whatever was chosen', async () => {
		const execute = async (waitFor: string) => {
			const texts = [`${waitFor} ends`, `${waitFor} #neverEnds`];
			const { status, output, error } = await executeNode({ waitFor }, texts);
			expect(error).toBeUndefined();
			expect(status).toBe('success');
			expect(output?.[0]?.map(({ json }) => json)).toMatchObject([
				{ taskId: pair.findId(texts[0] ?? ''), status: 'completed' },
				{
					taskId: pair.findId(texts[1] ?? ''),
					status: 'timedOut',
					note: expect.stringMatching(/taskId.*Get/),
				},
			]);
		};
		await Promise.all([execute('callback'), execute('polling')]);
		const callbackUrls = pair.listTasks().map(({ callBackUrl }) => callBackUrl);
		expect(callbackUrls).toEqual([undefined, undefined, undefined, undefined]);
	});
});

it('outputs the IDs before the timeout of the workflow that called it', async () => {
	const customInput = '{ "prompt": "#neverEnds" }';
	const inner = connect('Called', [WHEN_CALLED, createAndWait({ customInput })]);
	const { id } = await pair.importWorkflow(inner);
	await pair.n8n.activate(id);
	const workflow = chain('With a timeout', [callWorkflow(id)]);
	workflow.settings = { ...workflow.settings, executionTimeout: TIMEOUT };
	const execution = await pair.run(workflow);
	expect(execution.status).toBe('success');
	expect(execution.getItems('Call')).toMatchObject([
		{ taskId: pair.findId('#neverEnds'), status: 'timedOut' },
	]);
	const [called] = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
	expect(called?.getRuns(NODE)[0]?.hints?.map(({ message }) => message)).toContainEqual(
		expect.stringContaining("'Timeout Workflow'"),
	);
});

it('automatic polls, and says why, where the service is on another machine, which does not know n8n', async () => {
	// An address of this machine that n8n can't recognize as one.
	const baseUrl = pair.service.url.replace('127.0.0.1', '0.0.0.0');
	const credential = await pair.createCredential({ baseUrl });
	const workflow = chain('Automatic', [prompts(['one']), createAndWait()]);
	const execution = await pair.run(workflow, { credential });
	expect(execution.getItems(NODE)).toMatchObject([{ status: 'completed' }]);
	expect(pair.listTasks().map(({ callBackUrl }) => callBackUrl)).toEqual([undefined]);
	expect(execution.getRuns(NODE)[0]?.hints?.map(({ message }) => message)).toContainEqual(
		expect.stringMatching(/^The node polled: the service can't reach this n8n.*WEBHOOK_URL/),
	);
});
