import { postJson, runConcurrently } from '../../dev/fixtures/callbacks.cts';
import { startPair, type Pair } from '../../dev/fixtures/pair.cts';
import { connect, editSample, SPLIT_ITEMS, webhook } from '../../dev/fixtures/workflows.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import type { Workflow } from '../../dev/n8n/workflow.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task';

/** Every way in which n8n runs the node and repeats it, by what can go wrong with one item of three. */
const WAYS = {
	create: { operation: 'create' },
	callback: { operation: 'createAndWait', waitFor: 'callback' },
	polling: { operation: 'createAndWait', waitFor: 'polling' },
};
const ON_ERROR = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const;
const RETRY = [false, true];

interface Fault {
	/** The item that goes wrong. */
	index: number;
	/** Faults of the emulator, in its prompt. */
	prompt?: string;
	/** A field that can't be sent. */
	image?: string;
	/** Nobody may know whether a task was created, so the request must not be sent again. */
	isUnknown?: boolean;
	/** Nothing is sent for any item when the run stops on errors: it is found before. */
	isFoundBefore?: boolean;
}

const FAULTS: Record<string, Fault> = {
	'the first one malformed': { index: 0, image: 'none', isFoundBefore: true },
	'the first one refused': { index: 0, prompt: '#status=402' },
	'a middle one refused': { index: 1, prompt: '#status=422' },
	'the first one of unknown outcome': { index: 0, prompt: '#status=500', isUnknown: true },
	'a middle one of unknown outcome, that is a task': {
		index: 1,
		prompt: '#garbage #created',
		isUnknown: true,
	},
};

type Way = keyof typeof WAYS;

interface Cell {
	way: Way;
	onError: (typeof ON_ERROR)[number];
	retry: boolean;
	fault: string;
	/** Expressions return another value at each try. */
	changing: boolean;
}

const cells: Cell[] = (Object.keys(WAYS) as Way[]).flatMap((way) =>
	ON_ERROR.flatMap((onError) =>
		RETRY.flatMap((retry) =>
			Object.keys(FAULTS).flatMap((fault) =>
				[false, true].map((changing) => ({ way, onError, retry, fault, changing })),
			),
		),
	),
);

const nameNode = ({ way, onError, retry }: Cell) => `${way}-${onError}${retry ? '-retry' : ''}`;

/** One chain for each way, On Error and Retry On Fail: a webhook, its items, and our node. */
function buildWorkflow(resultsUrl: string): Workflow {
	const chains = new Map(cells.map((cell) => [nameNode(cell), cell]));
	const parts = [...chains].map(([name, { way, onError, retry }]) =>
		connect(name, [
			webhook(name, {}, `Webhook ${name}`),
			{ ...SPLIT_ITEMS, name: `Items ${name}` },
			editSample(
				resultsUrl,
				{
					...WAYS[way],
					image: `={{ $json.image || '${resultsUrl}/sample.png' }}`,
					seed: '={{ $json.changing ? Math.floor(Math.random() * 1e9) : 7 }}',
					options: { tasksPer10Seconds: 0, concurrency: 1 },
				},
				{ name, onError, retryOnFail: retry, maxTries: 3, waitBetweenTries: 50 },
			),
		]),
	);
	return {
		...connect('Paid once', []),
		nodes: parts.flatMap(({ nodes }) => nodes),
		connections: Object.fromEntries(
			parts.flatMap(({ connections }) => Object.entries(connections)),
		),
	};
}

const buildPrompts = (cell: Cell) => {
	const { index, prompt = '' } = FAULTS[cell.fault] as Fault;
	return [0, 1, 2].map(
		(item) => `cell ${cells.indexOf(cell)} item ${item}${item === index ? ` ${prompt}` : ''}`,
	);
};

let pair: Pair;
const executions = new Map<Cell, Execution>();
/** The prompt of each create request that reached the service, in order. */
const sent: unknown[] = [];

beforeAll(async () => {
	pair = await startPair({
		n8n: 'shared',
		service: {
			taskSeconds: 0.3,
			credits: 1e9,
			callbackRetrySeconds: [0.3, 0.5, 1, 2, 4, 8],
			faultsFor: ({ input }) => void sent.push(input.prompt),
		},
	});
	const { n8n, service } = pair;
	const { id } = await pair.activate(buildWorkflow(service.resultsUrl));
	await runConcurrently(cells, 8, async (cell) => {
		const { index, image } = FAULTS[cell.fault] as Fault;
		const items = buildPrompts(cell).map((prompt, item) => ({
			prompt,
			changing: cell.changing,
			...(item === index && { image }),
		}));
		const url = n8n.buildWebhookUrl(nameNode(cell));
		const { status } = await postJson(url, { 'content-type': 'application/json' }, { items });
		if (status !== 200) throw new Error(`${url} answered ${status}`);
	});
	const ended = { workflowId: id, count: cells.length, timeout: 300_000 };
	for (const execution of await n8n.waitForExecutions(ended)) {
		const node = Object.keys(execution.data.resultData.runData).find((name) =>
			name.startsWith('Items '),
		);
		const [item] = execution.getItems<{ prompt: string }>(String(node));
		const cell = cells[Number(item?.prompt.split(' ')[1])];
		if (cell) executions.set(cell, execution);
	}
}, 600_000);

afterAll(async () => await pair?.stop());

describe.each(cells.map((cell) => ({ ...cell, cell })))(
	'$way, On Error $onError, Retry On Fail $retry, $fault, expressions that change: $changing',
	({ cell }) => {
		const fault = FAULTS[cell.fault] as Fault;
		const prompts = buildPrompts(cell);
		const stops = cell.onError === 'stopWorkflow';

		const findTasks = () =>
			pair.listTasks().filter(({ input }) => prompts.includes(String(input.prompt)));
		const findOutput = (branch: number) =>
			executions.get(cell)?.getOutput(nameNode(cell), { branch }) ?? [];

		it('has at most one task for each item, and one sending where the outcome is unknown', () => {
			for (const [item, prompt] of prompts.entries()) {
				const tasks = findTasks().filter(({ input }) => input.prompt === prompt);
				const sendings = sent.filter((one) => one === prompt);
				expect(tasks.length).toBeLessThanOrEqual(1);
				if (item !== fault.index || fault.isUnknown) expect(sendings.length).toBeLessThanOrEqual(1);
			}
		});

		if (stops)
			it('stops, and names every task that exists', () => {
				const execution = executions.get(cell);
				expect(execution?.status).toBe('error');
				const { message = '', description } = execution?.getError() ?? {};
				expect(message).toContain(`[item ${fault.index}]`);
				const known = findTasks().filter(
					({ input }) => !(fault.isUnknown && input.prompt === prompts[fault.index]),
				);
				expect(known.length).toBe(fault.isFoundBefore ? 0 : fault.index);
				for (const { taskId } of known) expect(description).toContain(taskId);
				if (fault.isUnknown) expect(description).toContain('may exist');
			});
		else
			it('outputs every task in its place, paired, and tells of the bad item', () => {
				expect(executions.get(cell)?.status).toBe('success');
				const isParted = cell.onError === 'continueErrorOutput';
				const output = findOutput(0);
				const errors = isParted
					? findOutput(1)
					: output.filter(({ json }) => json.error !== undefined);
				const good = output.filter((item) => !errors.includes(item));
				expect(errors).toHaveLength(1);
				expect(errors[0]?.json.error).toEqual(expect.stringContaining(`[item ${fault.index}]`));
				expect(errors[0]?.pairedItem).toMatchObject({ item: fault.index });
				if (fault.isUnknown) expect(errors[0]?.json.message).toContain('may exist');
				const places = [0, 1, 2].filter((item) => item !== fault.index);
				expect(
					good.map(({ json, pairedItem }) => ({
						prompt: pair.service.tasks.get((json as unknown as Task).taskId)?.input.prompt,
						status: json.status,
						item: (pairedItem as { item: number }).item,
					})),
				).toEqual(
					places.map((item) => ({
						prompt: prompts[item],
						status: cell.way === 'create' ? 'pending' : 'completed',
						item,
					})),
				);
				if (!isParted)
					expect(output.indexOf(errors[0] as (typeof output)[number])).toBe(fault.index);
			});
	},
);
