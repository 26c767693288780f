import { expect } from '@jest/globals';
import {
	connect,
	generate,
	NODE,
	buildPrompts,
	setJson,
	SPLIT_ITEMS,
	buildWebhook,
} from '../../dev/fixtures/workflows.cts';
import { postJson } from '../../dev/fixtures/callbacks.cts';
import {
	makeAlike,
	readOutputs,
	rejectOnce,
	WAYS,
	type Way,
} from '../../dev/fixtures/compareRuns.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import { isOldest, readHints, usePair } from './support.cts';

const { sendings, faultsFor } = rejectOnce();

const pair = usePair({
	service: {
		taskSeconds: 1,
		credits: 1e9,
		callbackRetrySeconds: [0.5, 1, 2, 4],
		faultsFor,
	},
	keeps: true,
});

/** A run whose output must be the same whether it sleeps or polls. */
interface Row {
	/** The prompts of its items, with faults of the emulator. */
	items: string[];
	/** Entries of Options. */
	options?: object;
	/** Other parameters. */
	parameters?: Record<string, unknown>;
	/** Settings of the node. */
	node?: object;
	settings?: object;
	/** How often each item is sent; by default once. */
	sent?: number[];
	/** What the output must show of the row. */
	shows: RegExp;
}

const FILES = { downloadResults: true };
const PER_FILE = { outputItems: 'perFile', outputBinaryField: 'film' };
const RETRY = { retryOnFail: true, maxTries: 2, waitBetweenTries: 50 };
const GOES_ON = { onError: 'continueRegularOutput' };
const TO_ERRORS = { onError: 'continueErrorOutput' };

/** Reads what n8n has stored for nodes. */
const readNodeContexts = (execution?: Execution): string =>
	JSON.stringify(execution?.data.executionData?.contextData);

const ROWS: Record<string, Row> = {
	'an item for each file, and n8n that saves its progress': {
		items: ['one #files=2', 'two', 'three #files=3'],
		options: { ...FILES, ...PER_FILE },
		settings: { saveExecutionProgress: true },
		shows: /"index":2/,
	},
	"a file that can't be had, and binary data that n8n keeps together": {
		items: ['one #fileRejected', 'two'],
		options: FILES,
		settings: { binaryMode: 'combined' },
		shows: /downloadError/,
	},
	'Execute Once': {
		items: ['one #files=2', 'two'],
		options: FILES,
		node: { executeOnce: true },
		sent: [1, 0],
		shows: /"data_1"/,
	},
	'error output, the first item rejected': {
		items: ['one #status=422', 'two'],
		options: FILES,
		node: TO_ERRORS,
		shows: /did not accept what was sent/,
	},
	'On Error "continue", an expression that fails': {
		items: ['one', 'bad two'],
		parameters: {
			anyInput:
				"={{ $json.prompt.startsWith('bad') ? $('Items').itemMatching(7).json : { prompt: $json.prompt } }}",
		},
		node: GOES_ON,
		sent: [1, 0],
		shows: /"error":"/,
	},
	'Retry On Fail, one of unknown outcome': {
		items: ['one #status=500', 'two'],
		node: { ...GOES_ON, ...RETRY },
		shows: /may exist/,
	},
};

const executions = new Map<string, Execution>();
const nameRun = (row: string, way: Way) => `run-${Object.keys(ROWS).indexOf(row)}${way[0]}`;
const listPrompts = (row: string, way: Way) =>
	(ROWS[row] as Row).items.map((text) => `${text} ${nameRun(row, way)}`);

const readRun = (execution?: Execution) => ({
	status: execution?.status,
	output: readOutputs(execution, pair.listTasks()),
	// Items are prepared side by side.
	hints: readHints(execution)
		.map((hint) => makeAlike(hint, pair.listTasks()))
		.sort(),
});

async function startRow(row: string, way: Way): Promise<void> {
	const { options, parameters, node, settings } = ROWS[row] as Row;
	const ours = generate({ ...parameters, options: { howToWait: way, ...options } }, node);
	const workflow = connect(nameRun(row, way), [buildWebhook(), SPLIT_ITEMS, ours]);
	Object.assign(workflow.settings ?? {}, settings);
	const { id, url } = await pair.activate(workflow);
	await postJson(url, { items: listPrompts(row, way).map((prompt) => ({ prompt })) });
	const [execution] = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
	executions.set(nameRun(row, way), execution as Execution);
}

describe('a run that sleeps has the same output as a run that polls', () => {
	beforeAll(async () => {
		const runs = Object.keys(ROWS).flatMap((row) => WAYS.map((way) => startRow(row, way)));
		await Promise.all(runs);
	});

	it.each(Object.keys(ROWS))('%s', (row) => {
		const [asleep, awake] = WAYS.map((way) => readRun(executions.get(nameRun(row, way))));
		expect(asleep).toEqual(awake);
		expect(asleep?.output.join('')).toMatch((ROWS[row] as Row).shows);
		for (const way of WAYS) {
			const texts = listPrompts(row, way);
			const sent = texts.map((text) => sendings.get(text) ?? 0);
			expect(sent).toEqual((ROWS[row] as Row).sent ?? texts.map(() => 1));
			// Only the run that was to sleep has slept.
			const tasks = pair.listTasks().filter(({ input }) => texts.includes(String(input.prompt)));
			for (const { callBackUrl } of tasks) expect(Boolean(callBackUrl)).toBe(way === 'callback');
		}
	});
});

// n8n redacts since 2.41. The oldest n8n doesn't.
(isOldest ? it.skip : it)(
	'what n8n redacts is not in what the node stores of a run that sleeps',
	async () => {
		const secret = 'passport number';
		const note = setJson('Note', `{ prompt: $json.prompt, note: '${secret}' }`);
		const id = await pair.startSleeping(buildPrompts(['redacted #neverEnds']), note, generate());
		const read = async (redacts: boolean) => {
			const path = `/rest/executions/${id}?redactExecutionData=${redacts}`;
			return (await pair.n8n.request<{ data: string }>('GET', path)).data;
		};
		expect(await read(false)).toContain(secret);
		expect(await read(true)).not.toContain(secret);
	},
);

// A retry doesn't run a node that slept, whichever execution is retried (`handleWaitingState`).
it('an execution that was stopped in its sleep has every ID, and a retry outputs the IDs and sends nothing', async () => {
	const texts = ['stopped one', 'stopped two #status=422'];
	pair.service.set({ taskSeconds: 60 });
	const id = await pair.startSleeping(buildPrompts(texts), generate({}, GOES_ON));
	expect(readNodeContexts(await pair.n8n.getExecution(id))).toContain('"sleep"');
	expect(readNodeContexts(await pair.n8n.getExecution(id))).not.toContain('stopped one');
	await pair.n8n.request('POST', `/rest/executions/${id}/stop`);
	expect((await pair.n8n.waitForExecution(id)).status).toBe('canceled');
	const endsWithId = new RegExp(`had not ended .* Task ID: ${pair.findId('stopped one')}$`);
	const timedOut = { error: expect.stringMatching(endsWithId) as unknown };
	expect((await pair.n8n.getExecution(id)).getItems(NODE)[0]).toMatchObject(timedOut);
	const rejected = { error: expect.stringContaining('did not accept') as unknown };
	expect((await pair.retry(id)).getItems(NODE)).toMatchObject([timedOut, rejected]);
	expect(texts.map((text) => sendings.get(text))).toEqual([1, 1]);
});
