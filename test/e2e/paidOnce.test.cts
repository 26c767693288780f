import { expect } from '@jest/globals';
import { postJson, runConcurrently } from '../../dev/fixtures/callbacks.cts';
import { connect, editSample, SPLIT_ITEMS, webhook } from '../../dev/fixtures/workflows.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import type { Workflow } from '../../dev/n8n/workflow.cts';
import { usePair } from './support.cts';

/** Every way n8n runs the node and repeats it, by what can go wrong with one item of three. */
const WAYS = {
	create: { operation: 'create' },
	callback: { operation: 'createAndWait', waitFor: 'callback' },
	polling: { operation: 'createAndWait', waitFor: 'polling' },
};
const ON_ERROR = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const;
const RETRY = [false, true];

interface Fault {
	name: string;
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
	/** Nothing is sent for the items after it: they would be refused too. */
	endsCreating?: boolean;
	/** It is refused at its first sending only. The fields of the others are malformed once there is a task. */
	once?: boolean;
}

const FAULTS: Fault[] = [
	{ name: 'the first one malformed', index: 0, image: 'none', isFoundBefore: true },
	{ name: 'the first one refused', index: 0, prompt: '#status=400' },
	{ name: 'a middle one refused', index: 1, prompt: '#status=422' },
	{ name: 'a middle one refused as all are', index: 1, prompt: '#status=402', endsCreating: true },
	{ name: 'the first one refused once, paid ones malformed at the next try', index: 0, once: true },
	{ name: 'the last one refused once, paid ones malformed at the next try', index: 2, once: true },
	{ name: 'the first one of unknown outcome', index: 0, prompt: '#status=500', isUnknown: true },
	{ name: 'one garbled, yet a task', index: 1, prompt: '#garbage #created', isUnknown: true },
];

/** Every combination. With `changing`, expressions return another value at each try. */
const cells = (Object.keys(WAYS) as Array<keyof typeof WAYS>).flatMap((way) =>
	ON_ERROR.flatMap((onError) =>
		RETRY.flatMap((retry) =>
			FAULTS.flatMap((fault) =>
				[false, true].map((changing) => ({ way, onError, retry, fault, changing })),
			),
		),
	),
);
type Cell = (typeof cells)[number];

const nameNode = ({ way, onError, retry }: Cell) => `${way}-${onError}${retry ? '-retry' : ''}`;

/** One chain for each way, On Error and Retry On Fail: a webhook, its items, and our node. */
function buildWorkflow(resultsUrl: string): Workflow {
	const chains = new Map(cells.map((cell) => [nameNode(cell), cell]));
	const parts = [...chains].map(([name, { way, onError, retry }]) =>
		connect(name, [
			webhook({ path: name }, `Webhook ${name}`),
			{ ...SPLIT_ITEMS, name: `Items ${name}` },
			editSample(
				resultsUrl,
				{
					...WAYS[way],
					// The node's context has what it has created, so this is malformed from the next try on.
					image: `={{ $json.fades && Object.keys($node["${name}"].context.creations?.places ?? {}).length ? 'none' : $json.image || '${resultsUrl}/sample.png' }}`,
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

/** Builds the three items of a cell. One of them goes wrong. */
const buildItems = (cell: Cell) => {
	const { index, prompt = '', image, once = false } = cell.fault;
	return [0, 1, 2].map((item) => ({
		prompt: `cell ${cells.indexOf(cell)} item ${item}${item === index ? ` ${prompt}` : ''}`,
		image: item === index ? image : undefined,
		fades: once && item !== index,
		changing: cell.changing,
	}));
};

const executions = new Map<Cell, Execution>();
/** The prompt of each create request that reached the service, in order. */
const sent: unknown[] = [];

/** Says whether this sending is the one of its item that is refused. */
function refusesOnce(prompt: unknown): boolean {
	const [, cell = '', item = ''] = /cell (\d+) item (\d)/.exec(String(prompt)) ?? [];
	const known = cells[Number(cell)];
	return Boolean(known?.fault.once && known.fault.index === Number(item) && !sent.includes(prompt));
}

/** n8n repeats a run that stopped, and one whose first item has an error. One that has parked by then is parked again as it is. */
const isHealed = ({ way, fault, retry, onError }: Cell) =>
	fault.once && retry && (onError === 'stopWorkflow' || (fault.index === 0 && way !== 'callback'));

const pair = usePair({
	service: {
		taskSeconds: 0.3,
		credits: 1e9,
		callbackRetrySeconds: [0.3, 0.5, 1, 2, 4, 8],
		faultsFor: ({ input }) => {
			const refuses = refusesOnce(input.prompt);
			sent.push(input.prompt);
			return refuses ? { status: 422 } : undefined;
		},
	},
	keeps: true,
});

beforeAll(async () => {
	const { n8n, service } = pair;
	const { id } = await pair.activate(buildWorkflow(service.resultsUrl));
	await runConcurrently(cells, 8, async (cell) => {
		const url = n8n.buildWebhookUrl(nameNode(cell));
		const { status } = await postJson(url, { items: buildItems(cell) });
		if (status !== 200) throw new Error(`${url} answered ${status}`);
	});
	const ended = { workflowId: id, count: cells.length };
	for (const execution of await n8n.waitForExecutions(ended)) {
		const data = JSON.stringify(execution.data.resultData.runData);
		const cell = cells[Number(/cell (\d+) item/.exec(data)?.[1])];
		if (cell) executions.set(cell, execution);
	}
}, 600_000);

describe.each(cells.map((cell) => ({ ...cell, cell })))(
	'$way, On Error $onError, Retry On Fail $retry, $fault.name, expressions that change: $changing',
	({ cell, fault, onError, way }) => {
		const prompts = buildItems(cell).map(({ prompt }) => prompt);

		const findTasks = () =>
			pair.listTasks().filter(({ input }) => prompts.includes(String(input.prompt)));
		const findOutput = (branch: number) => [
			...(executions.get(cell)?.getOutput(nameNode(cell), { branch }) ?? []),
		];

		it('has at most one task for each item, and one sending where the outcome is unknown', () => {
			for (const [item, prompt] of prompts.entries()) {
				const tasks = findTasks().filter(({ input }) => input.prompt === prompt);
				const sendings = sent.filter((one) => one === prompt);
				expect(tasks.length).toBeLessThanOrEqual(1);
				if (item !== fault.index || fault.isUnknown) expect(sendings.length).toBeLessThanOrEqual(1);
			}
		});

		if (isHealed(cell))
			it('outputs every task in its place once the refusal is over', () => {
				expect(executions.get(cell)?.status).toBe('success');
				const output = findOutput(0).map(({ json }) => json.taskId);
				expect(output).toEqual(prompts.map((prompt) => pair.findId(prompt)));
				expect(findTasks()).toHaveLength(3);
			});
		else if (onError === 'stopWorkflow')
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
				const isBad = (item: number) =>
					item === fault.index || Boolean(fault.endsCreating && item > fault.index);
				const good = findOutput(0);
				const badItems = [0, 1, 2].filter(isBad);
				const bad =
					onError === 'continueErrorOutput'
						? findOutput(1)
						: good.splice(fault.index, badItems.length);
				expect(bad).toMatchObject(
					badItems.map((item) => ({
						json: { error: expect.stringContaining(`[item ${item}]`) },
						pairedItem: { item },
					})),
				);
				if (fault.endsCreating) expect(bad[1]?.json.error).toContain('was not sent');
				if (fault.isUnknown) expect(bad[0]?.json.message).toContain('may exist');
				const status = way === 'create' ? 'pending' : 'completed';
				const output = good.map(({ json: { taskId, status, error }, pairedItem }) => {
					const prompt = pair.service.tasks.get(taskId as string)?.input.prompt;
					return { prompt, status, error, pairedItem };
				});
				const expected = prompts.map((prompt, item) => {
					return { prompt, status, pairedItem: expect.objectContaining({ item }) };
				});
				expect(output).toEqual(expected.filter((_, item) => !isBad(item)));
			});
	},
);
