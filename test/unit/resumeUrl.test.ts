import type { IExecuteFunctions } from 'n8n-workflow';
import type { TaskService } from '../../nodes/MediaGeneration/api/client';
import { noteCall } from '../../nodes/MediaGeneration/operations/nodeContext';
import { findResumeUrl } from '../../nodes/MediaGeneration/operations/wait/resumeUrl';

const PUBLIC = 'https://n8n.example/webhook-waiting/7';
const INTERNAL = 'http://localhost:5678/webhook-waiting/7';

interface Run {
	url?: string;
	/** The addresses of the services of its items. */
	services?: string[];
	/** The service's address as the webhook will read it; empty where it can't. */
	readAgain?: string;
	/** Runs as a tool: of an older agent, or as a node of the newest one. */
	tool?: 'older' | 'newest';
	executionOrder?: string;
	/** The runs that have begun, in their order; the last of them asks. */
	begun?: number[];
	/** The last run that n8n has noted. */
	lastRun?: number;
	/** The node's context. */
	kept?: object;
	/** n8n's mode. */
	mode?: string;
	/** The execution of the workflow that called this one as a sub-workflow. */
	parentExecutionId?: string;
	/** How many items came in. */
	items?: number;
}

/** Asks for the resume URL of a run. */
async function find(run: Run) {
	const { services = ['https://api.example'], readAgain = services[0], tool } = run;
	const { begun = [0, 1], lastRun = 1, kept = {} } = run;
	let $runIndex = 0;
	const hints: unknown[] = [];
	const context = {
		connectionInputData: [{}],
		getNode: () => ({ name: 'Node', type: tool ? 'mediaGenerationTool' : 'mediaGeneration' }),
		isToolExecution: () => tool === 'older',
		getWorkflowSettings: () => ({ executionOrder: run.executionOrder ?? 'v1' }),
		getContext: () => kept,
		getWorkflowDataProxy: () => ({ $runIndex, $node: { Node: { runIndex: lastRun } } }),
		evaluateExpression: () => run.url ?? PUBLIC,
		async getCredentials() {
			const { connectionInputData } = this as { connectionInputData?: object };
			if (connectionInputData || !readAgain) throw new Error('no data');
			return { baseUrl: readAgain };
		},
		getMode: () => run.mode ?? 'trigger',
		getInputData: () => Array.from({ length: run.items ?? 1 }),
		getExecutionContext: () =>
			run.parentExecutionId && { parentExecutionId: run.parentExecutionId },
		addExecutionHints: (hint: { message: string }) => hints.push(hint.message),
	} as unknown as IExecuteFunctions;
	for ($runIndex of begun) noteCall(context);
	const all = services.map((baseUrl) => ({ credentials: { baseUrl } }) as TaskService);
	return { url: await findResumeUrl(context, all), hints };
}

const subWorkflow: Run = { mode: 'integrated', parentExecutionId: '6' };

const polls = { url: undefined, hints: [] };

it.each<[string, Run, string]>([
	['the internet reaches n8n', {}, PUBLIC],
	['both are in one network', { url: INTERNAL, services: ['http://10.0.0.1'] }, INTERNAL],
	['the last call of a turn of the newest agent runs', { tool: 'newest' }, PUBLIC],
	['that call is tried again', { tool: 'newest', begun: [0, 1, 1] }, PUBLIC],
	['a sub-workflow has all items', { ...subWorkflow, items: 2 }, PUBLIC],
	["n8n's Agents call a workflow, with one item", { mode: 'integrated' }, PUBLIC],
])('the execution can sleep where %s', async (_, run, url) => {
	expect(await find(run)).toEqual({ url, hints: [] });
});

it.each([undefined, 'older'] as const)(
	'no call is noted outside of the newest agent: %s',
	async (tool) => {
		const kept = {};
		await find({ tool, kept });
		expect(kept).toEqual({});
	},
);

it.each<[string, Run]>([
	['an older agent', { tool: 'older' }],
	['a call with others behind it', { tool: 'newest', lastRun: 2 }],
	['a call with others behind it that n8n began first', { tool: 'newest', begun: [1] }],
	['such a call that is tried again', { tool: 'newest', begun: [1, 1] }],
	['a call that n8n began after the others of its turn', { tool: 'newest', begun: [1, 0] }],
	['a workflow of the older order', { tool: 'newest', executionOrder: 'v0' }],
	['a sub-workflow that runs once for each item', subWorkflow],
	['an agent that the service cannot reach', { tool: 'newest', url: INTERNAL }],
])('the execution stays awake for %s', async (_, run) => {
	expect(await find(run)).toEqual(polls);
});

it.each<[string, Run]>([
	["can't be read", { readAgain: '' }],
	['is another one', { readAgain: 'https://other.example' }],
	['is one of several', { services: ['https://api.example', 'https://other.example'] }],
])(
	'the execution stays awake, and says so, where the credential of the webhook %s',
	async (_, run) => {
		const hints = [expect.stringContaining('polled instead of waiting')];
		expect(await find(run)).toEqual({ url: undefined, hints });
	},
);

it("nothing is created where the service can't reach n8n", async () => {
	const description = expect.stringMatching(/^Nothing was created.*WEBHOOK_URL.*Polling/) as string;
	await expect(find({ url: INTERNAL })).rejects.toMatchObject({
		message: "The service can't reach this n8n: callbacks would go to http://localhost:5678",
		description,
	});
});
