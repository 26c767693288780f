import { expect } from '@jest/globals';
import { postJson, runConcurrently } from '../../dev/fixtures/callbacks.cts';
import { choosePairwise } from '../../dev/fixtures/pairwise.cts';
import { connect, editSample, SPLIT_ITEMS, webhook } from '../../dev/fixtures/workflows.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import type { Workflow } from '../../dev/n8n/workflow.cts';
import { usePair } from './support.cts';

/** Every way n8n runs the node and repeats it, by what can go wrong with one item of three. */
const WAYS = {
	start: { operation: 'start', options: {} },
	callback: { operation: 'generate', options: { howToWait: 'callback' } },
	polling: { operation: 'generate', options: { howToWait: 'polling' } },
};
const ON_ERROR = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const;
const RETRY = [false, true];

interface Fault {
	name: string;
	/** The item that goes wrong. */
	index: number;
	/** Faults of the emulator, in its prompt. */
	prompt?: string;
	/** A field can't be sent. */
	isMalformed?: boolean;
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
	{ name: 'the first one malformed', index: 0, isMalformed: true, isFoundBefore: true },
	{ name: 'the first one refused', index: 0, prompt: '#status=400' },
	{ name: 'a middle one refused', index: 1, prompt: '#status=422' },
	{ name: 'a middle one refused as all are', index: 1, prompt: '#status=402', endsCreating: true },
	{ name: 'the first one refused once, paid ones malformed at the next try', index: 0, once: true },
	{ name: 'the last one refused once, paid ones malformed at the next try', index: 2, once: true },
	{ name: 'the first one of unknown outcome', index: 0, prompt: '#status=500', isUnknown: true },
	{ name: 'one garbled, yet a task', index: 1, prompt: '#garbage #created', isUnknown: true },
];

/** Every combination. With `changing`, expressions return another value at each try. */
const combinations = (Object.keys(WAYS) as Array<keyof typeof WAYS>).flatMap((way) =>
	ON_ERROR.flatMap((onError) =>
		RETRY.flatMap((retry) =>
			FAULTS.flatMap((fault) =>
				[false, true].map((changing) => ({ way, onError, retry, fault, changing })),
			),
		),
	),
);
type Cell = (typeof combinations)[number];

/** All where a refusal is over at the next try, and of the others each pair of what varies. */
const cells = [
	...combinations.filter(({ fault }) => fault.once),
	...choosePairwise(combinations.filter(({ fault }) => !fault.once)),
];

const nameNode = ({ way, onError, retry }: Cell) => `${way}-${onError}${retry ? '-retry' : ''}`;

/** Says in an expression whether n8n keeps the ID of a task for a node: it is then in another try. */
const hasPaid = (name: string) => `/[0-9a-f]{32}/.test(JSON.stringify($node["${name}"].context))`;

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
					image: `={{ ${hasPaid(name)} && $json.next || $json.image }}`,
					seed: '={{ $json.changing ? Math.floor(Math.random() * 1e9) : 7 }}',
					options: { ...WAYS[way].options, concurrency: 1 },
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

/** The prompts of the three items of a cell. One of them goes wrong. */
const listPrompts = (cell: Cell) =>
	[0, 1, 2].map((item) => {
		const { index, prompt = '' } = cell.fault;
		return `cell ${cells.indexOf(cell)} item ${item}${item === index ? ` ${prompt}` : ''}`;
	});

/** Builds the items of a cell. With `once`, there is another image from the next try on, if a task exists then. */
const buildItems = (cell: Cell) =>
	listPrompts(cell).map((prompt, item) => {
		const { index, isMalformed, once } = cell.fault;
		const sample = `${pair.service.resultsUrl}/sample.png`;
		const image = isMalformed && item === index ? 'none' : sample;
		const next = once && (item === index ? `${sample}?paid` : 'none');
		return { prompt, image, next, changing: cell.changing };
	});

const executions = new Map<Cell, Execution>();
/** The input of each create request that reached the service, in order. */
const sent: Array<Record<string, unknown>> = [];

const findSendings = (prompt: string) => sent.filter((input) => input.prompt === prompt);

/** Says whether this sending is the one of its item that is refused. */
function refusesOnce(prompt: string): boolean {
	const [, cell = '', item = ''] = /cell (\d+) item (\d)/.exec(prompt) ?? [];
	const fault = cells[Number(cell)]?.fault;
	return Boolean(fault?.once && fault.index === Number(item) && !findSendings(prompt).length);
}

/** n8n repeats a run that stopped, and one whose first item has an error; one that sleeps once it is awake. */
const isRepeated = ({ fault, retry, onError }: Cell) =>
	retry && (onError === 'stopWorkflow' || fault.index === 0);

const isHealed = (cell: Cell) => cell.fault.once && isRepeated(cell);

/** Counts the sendings of the item that goes wrong. n8n tries three times. */
function countBadSendings(cell: Cell) {
	const { isMalformed, isUnknown, once } = cell.fault;
	if (isMalformed) return 0;
	if (isUnknown || !isRepeated(cell)) return 1;
	return once ? 2 : 3;
}

const pair = usePair({
	service: {
		taskSeconds: 0.3,
		credits: 1e9,
		callbackRetrySeconds: [0.3, 0.5, 1, 2, 4, 8],
		faultsFor: ({ input }) => {
			const refuses = refusesOnce(String(input.prompt));
			sent.push(input);
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
		const prompts = listPrompts(cell);
		const badPrompt = String(prompts[fault.index]);

		const findTasks = () =>
			pair.listTasks().filter(({ input }) => prompts.includes(String(input.prompt)));
		const findOutput = (branch: number) => [
			...(executions.get(cell)?.getOutput(nameNode(cell), { branch }) ?? []),
		];

		it('goes wrong as it is meant to', () => {
			expect(findSendings(badPrompt)).toHaveLength(countBadSendings(cell));
			const exists = fault.prompt?.includes('#created') || isHealed(cell);
			expect(findTasks().some(({ input }) => input.prompt === badPrompt)).toBe(Boolean(exists));
		});

		it('has at most one task for each item, and is sent once unless it was refused', () => {
			for (const [item, prompt] of prompts.entries()) {
				const tasks = findTasks().filter(({ input }) => input.prompt === prompt);
				expect(tasks.length).toBeLessThanOrEqual(1);
				if (item !== fault.index) expect(findSendings(prompt).length).toBeLessThanOrEqual(1);
			}
		});

		if (isHealed(cell))
			it('outputs every task in its place once the refusal is over', () => {
				expect(executions.get(cell)?.status).toBe('success');
				const output = findOutput(0).map(({ json }) => json.taskId);
				expect(output).toEqual(prompts.map((prompt) => pair.findId(prompt)));
				expect(findTasks()).toHaveLength(3);
				// When it was sent again, the fields of the items that were paid were malformed.
				const hadPaid = fault.index > 0 || onError !== 'stopWorkflow';
				expect(findSendings(badPrompt).map(({ image_url }) => image_url)).toEqual([
					expect.stringMatching(/sample\.png$/),
					expect.stringMatching(hadPaid ? /\?paid$/ : /sample\.png$/),
				]);
			});
		else if (onError === 'stopWorkflow')
			it('stops, and names every task that exists', () => {
				const execution = executions.get(cell);
				expect(execution?.status).toBe('error');
				const { message = '', description } = execution?.getError() ?? {};
				expect(message).toContain(`[item ${fault.index + 1} of 3]`);
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
						json: { error: expect.not.stringContaining('[item') },
						pairedItem: { item },
					})),
				);
				if (fault.endsCreating) expect(bad[1]?.json.error).toContain('was not sent');
				if (fault.isUnknown) expect(bad[0]?.json.message).toContain('may exist');
				const status = way === 'start' ? 'pending' : 'completed';
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
