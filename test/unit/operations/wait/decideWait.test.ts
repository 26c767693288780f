import type { TaskService } from '../../nodes/MediaGeneration/api/client';
import { noteCall } from '../../nodes/MediaGeneration/operations/nodeContext';
import { decideWait, type WaitFor } from '../../nodes/MediaGeneration/operations/wait/decideWait';
import { buildContext, type Run as AnyRun } from './context';

const PUBLIC = 'https://n8n.example/webhook-waiting/7';
const INTERNAL = 'http://localhost:5678/webhook-waiting/7';
const LOCAL = 'http://n8n.lan/webhook-waiting/7';
/** A service in the network. */
const LAN = 'http://10.0.0.1';

interface Run extends Pick<AnyRun, 'kept' | 'executionId'> {
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
	/** n8n's mode. */
	mode?: string;
	/** The execution of the workflow that called this one as a sub-workflow. */
	parentExecutionId?: string;
	/** How many items came in. */
	items?: number;
	/** Each file becomes an item. */
	perFile?: boolean;
	workflowName?: string;
}

/** Decides how a run waits. */
async function decide(run: Run, chosen: WaitFor = 'callback') {
	const { services = ['https://api.example'], readAgain = services[0], tool } = run;
	const { begun = [0, 1], lastRun = 1, parentExecutionId } = run;
	const type = tool ? 'mediaGenerationTool' : 'mediaGeneration';
	const $node = { 'Media Generation': { runIndex: lastRun } };
	let $runIndex = 0;
	const context = buildContext(
		{ ...run, type, isTool: tool === 'older' },
		{
			getWorkflow: () => ({ name: run.workflowName ?? 'Pictures' }),
			getWorkflowSettings: () => ({ executionOrder: run.executionOrder ?? 'v1' }),
			getWorkflowDataProxy: () => ({ $runIndex, $node }),
			evaluateExpression: () => run.url ?? PUBLIC,
			async getCredentials() {
				const { connectionInputData } = this as { connectionInputData?: object };
				if (connectionInputData || !readAgain) throw new Error('no data');
				return { baseUrl: readAgain };
			},
			getMode: () => run.mode ?? 'trigger',
			getInputData: () => Array.from({ length: run.items ?? 1 }),
			getExecutionContext: () => parentExecutionId && { parentExecutionId },
		},
	);
	Object.assign(context, { connectionInputData: [{}] });
	for ($runIndex of begun) noteCall(context);
	const all = services.map((baseUrl) => ({ credentials: { baseUrl } }) as TaskService);
	return await decideWait(context, { waitFor: chosen, perFile: run.perFile }, all);
}

const subWorkflow: Run = { mode: 'integrated', parentExecutionId: '6' };
const executeNode: Run = { workflowName: 'Execute node mediaGeneration' };

const SLEEPS: Array<[string, Run, string]> = [
	['the internet reaches n8n', {}, PUBLIC],
	['both are on one machine', { url: INTERNAL, services: ['http://127.0.0.1:9000'] }, INTERNAL],
	['n8n has a name in the network of the service', { url: LOCAL, services: [LAN] }, LOCAL],
	['the internet reaches n8n, and the service is in its network', { services: [LAN] }, PUBLIC],
	['the last call of a turn of the newest agent runs', { tool: 'newest' }, PUBLIC],
	['that call is tried again', { tool: 'newest', begun: [0, 1, 1] }, PUBLIC],
	['one item becomes an item for each file', { perFile: true }, PUBLIC],
	['a sub-workflow has all items', { ...subWorkflow, items: 2 }, PUBLIC],
	['a sub-workflow is retried by itself', { ...subWorkflow, mode: 'retry' }, PUBLIC],
	["n8n's Agents call a workflow, with one item", { mode: 'integrated' }, PUBLIC],
	["a workflow's name begins like that of a single node", { workflowName: 'Execute node' }, PUBLIC],
];

/** Where an execution can't sleep, whatever was chosen, and what the reason says. */
const AWAKE: Array<[string, Run, string]> = [
	['an older agent', { tool: 'older' }, 'newest AI Agent'],
	['a call with others behind it', { tool: 'newest', lastRun: 2 }, 'last one'],
	['a call with others behind it that n8n began first', { tool: 'newest', begun: [1] }, 'last one'],
	['such a call that is tried again', { tool: 'newest', begun: [1, 1] }, 'last one'],
	[
		'a call that n8n began after the others of its turn',
		{ tool: 'newest', begun: [1, 0] },
		'last one',
	],
	['a workflow of the older order', { tool: 'newest', executionOrder: 'v0' }, 'newest AI Agent'],
	['a sub-workflow that runs once for each item', subWorkflow, 'once for each item'],
	['an agent that the service cannot reach', { tool: 'newest', url: INTERNAL }, "can't reach"],
	["n8n's Agents, or an MCP server", { executionId: undefined }, 'no execution'],
	['several items that become one for each file', { perFile: true, items: 2 }, 'by their position'],
	['a single node that n8n executes', executeNode, 'single node'],
	[
		'an execution of engine-v2',
		{ executionId: '019ab7c2-5d1e-7abc-9def-0123456789ab' },
		'new engine',
	],
	["a credential that can't be read again", { readAgain: '' }, 'credential has expressions'],
	[
		'a credential that is another one when it is read again',
		{ readAgain: 'https://other.example' },
		'credential has expressions',
	],
	[
		'credentials that are several',
		{ services: ['https://api.example', 'https://other.example'] },
		'credential has expressions',
	],
];

/** Where the addresses decide. */
const UNREACHED: Array<[string, Run]> = [
	['an n8n on this machine alone', { url: INTERNAL }],
	['an n8n in a network alone', { url: LOCAL }],
];

describe.each<WaitFor>(['automatic', 'callback'])('%s', (chosen) => {
	it.each(SLEEPS)('sleeps where %s', async (_, run, resumeUrl) => {
		expect(await decide(run, chosen)).toEqual({ resumeUrl });
	});

	it.each(AWAKE)('polls for %s, and says why', async (_, run, reason) => {
		expect(await decide(run, chosen)).toEqual({ reason: expect.stringContaining(reason) });
	});
});

it.each([{ url: INTERNAL }, executeNode, {}])(
	'polling polls, which needs no reason: %j',
	async (run) => {
		expect(await decide(run, 'polling')).toEqual({});
	},
);

it.each(UNREACHED)(
	'automatic polls for %s, a callback is an error, and both say what to do',
	async (_, run) => {
		const { origin } = new URL(String(run.url));
		const unreached = `service can't reach this n8n: callbacks would go to ${origin}`;
		const reason = expect.stringMatching(`^the ${unreached}\\. .*WEBHOOK_URL`) as string;
		expect(await decide(run, 'automatic')).toEqual({ reason });
		await expect(decide(run, 'callback')).rejects.toMatchObject({
			message: `The ${unreached}`,
			description: expect.stringMatching(/^Nothing was created.*WEBHOOK_URL.*Automatic/) as string,
		});
	},
);

it('a service on another machine cannot reach an n8n without an address, which the user may know better', async () => {
	const run = { url: INTERNAL, services: [LAN] };
	expect(await decide(run, 'automatic')).toMatchObject({ reason: expect.any(String) });
	expect(await decide(run, 'callback')).toEqual({ resumeUrl: INTERNAL });
});

it.each([undefined, 'older'] as const)(
	'no call is noted outside of the newest agent: %s',
	async (tool) => {
		const kept = {};
		await decide({ tool, kept });
		expect(kept).toEqual({});
	},
);
