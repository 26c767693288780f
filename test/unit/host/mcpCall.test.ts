import { buildCall } from '../n8n';

const MCP = '@n8n/n8n-nodes-langchain.mcpTrigger';
const NOW = 1_000_000;
beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(NOW));
afterEach(() => jest.restoreAllMocks());

interface McpCall {
	/** What triggered the execution, where n8n notes it. */
	startedBy?: string;
	/** The nodes that use the tool, at any distance, with their types. */
	users?: Record<string, string>;
	isTool?: boolean;
	/** When each run began that n8n has noted, in seconds before now. */
	begun?: number[];
}

const build = ({ startedBy, users = { Server: MCP }, isTool = true, begun = [] }: McpCall) => {
	const nodes = Object.fromEntries(Object.entries(users).map(([name, type]) => [name, { type }]));
	const getChildNodes = (name: string, type: string) =>
		name === 'Node' && type === 'ai_tool' ? Object.keys(users) : [];
	const runs = begun.map((seconds) => ({ startTime: NOW - seconds * 1_000 }));
	return buildCall({ isTool }, {
		getExecutionContext: () => startedBy && { triggerNode: { type: startedBy } },
		getWorkflowSettings: () => ({}),
		workflow: { nodes, getChildNodes },
		runExecutionData: {
			resultData: { runData: { Server: runs.slice(0, 1), Node: runs.slice(1) } },
		},
	} as object);
};

const AGENT = '@n8n/n8n-nodes-langchain.agent';
const AGENT_TOOL = `${AGENT}Tool`;

it.each<[string, McpCall, number]>([
	['a tool of an MCP server', {}, 44],
	['one whose trigger n8n notes, in queue mode', { startedBy: MCP }, 44],
	['one below an agent', { users: { Agent: AGENT_TOOL, Server: MCP } }, 44],
	['one whose client called 5 s ago', { begun: [5, 1] }, 39],
	['one that an agent calls after a minute', { begun: [60] }, -16],
	['a tool of an agent', { users: { Agent: AGENT } }, Infinity],
	[
		'a tool of both, called by the agent',
		{ users: { Agent: AGENT, Server: MCP }, startedBy: 'chat' },
		Infinity,
	],
	['a tool of both, called by the client', { users: { Agent: AGENT, Server: MCP } }, 44],
	['a node that is no tool', { isTool: false }, Infinity],
	["a tool of n8n's Agents, without a workflow", { users: {} }, Infinity],
])('%s has so many seconds: %j', (_, call, seconds) => {
	const { answerBy, deadline } = build(call);
	expect((answerBy - NOW) / 1_000).toBe(seconds);
	expect(deadline).toBe(answerBy);
});
