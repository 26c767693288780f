import { TaskService } from '../../nodes/MediaGeneration/api/client';
import { openRecord } from '../../nodes/MediaGeneration/operations/create/creationRecord';
import { buildContext, type Run as AnyRun } from './context';

const REQUEST = { model: 'beta2/image-edit', input: { prompt: 'Night' } };
const OTHER = { model: 'beta2/image-edit', input: { prompt: 'Day' } };
const UNKNOWN = { message: 'The service broke off', taskId: 'named' };
const TOKEN = 'a-token-that-nobody-may-read';
/** A call by an agent of n8n's Agents. */
const AGENT: Run = { kept: null, executionId: undefined, type: 'nodeTool' };

interface Run extends AnyRun {
	/** The JSON of each input item. */
	input?: object[];
	signal?: AbortSignal;
}

/** A node whose context n8n keeps, and its record in each try. */
function newNode(nodeContext: object = {}) {
	const lines: string[] = [];
	const customData = new Map<string, string>();
	const log = (line: string) => lines.push(line);
	const open = ({ input = [], signal, ...run }: Run = {}) => {
		const context = buildContext(
			{ kept: nodeContext, ...run },
			{
				getWorkflowDataProxy: () => ({ $runIndex: run.run ?? 0, $execution: { customData } }),
				getInstanceId: () => 'instance',
				getInputData: () => input.map((json) => ({ json })),
				getExecutionCancelSignal: () => signal,
				logger: { info: log, warn: log },
			},
		);
		const service = new TaskService(context, {
			baseUrl: 'https://api.example',
			accessToken: TOKEN,
		});
		const record = openRecord(context);
		const send = (index: number) => ({ index, request: REQUEST, service });
		return { context, record, send };
	};
	/** Creates a task for item 0, and leaves it unknown whether there is one for item 1. */
	const sendBoth = (run?: Run) => {
		const { record, send } = open(run);
		record.addTask(send(0), 'task');
		record.addUnknown(send(1), UNKNOWN);
	};
	return { open, sendBoth, nodeContext, lines, customData };
}

const task = (elsewhere: boolean) => ({
	taskId: 'task',
	model: REQUEST.model,
	account: expect.any(String) as string,
	elsewhere,
});
const unknown = { error: expect.objectContaining({ message: UNKNOWN.message }) as Error };

describe('the record', () => {
	it.each<[string, Run, unknown[]]>([
		['the next try', {}, [task(false), unknown, undefined]],
		['a retry from the list', { executionId: '2' }, [undefined, undefined, undefined]],
		['the next run of a loop', { run: 1 }, [undefined, undefined, undefined]],
		['a call of an MCP server', { executionId: undefined }, [undefined, undefined, undefined]],
	])('recalls without a request what there is in %s', (_, again, expected) => {
		const { open, sendBoth } = newNode();
		sendBoth();
		const { record } = open(again);
		expect([0, 1, 2].map((item) => record.recall(item))).toEqual(expected);
	});

	it.each<[string, Run, typeof REQUEST, object | undefined]>([
		['a retry from the list', { executionId: '2' }, REQUEST, task(true)],
		['a corrected retry from the list', { executionId: '2' }, OTHER, undefined],
		['the next run of a loop', { run: 1 }, REQUEST, undefined],
	])('finds by its request what there is in %s', (_, again, request, created) => {
		const { open, sendBoth } = newNode();
		sendBoth();
		const { record } = open(again);
		// The user has decided about what was unknown.
		expect([0, 1, 2].map((index) => record.findSame({ index, request }))).toEqual([
			created,
			undefined,
			undefined,
		]);
	});

	it('keeps a task that was taken over, though its expressions return another value at the next try', () => {
		const { open, sendBoth } = newNode();
		sendBoth();
		const again = { executionId: '2' };
		open(again).record.findSame({ index: 0, request: REQUEST });
		const { record } = open(again);
		expect(record.recall(0)).toEqual(task(true));
		expect(record.findSame({ index: 0, request: OTHER })).toEqual(task(true));
		expect(record.listTaskIds()).toEqual(['task']);
	});

	it('names the tasks of this run and execution', () => {
		const { open, sendBoth } = newNode();
		sendBoth();
		const { record } = open();
		expect(record.listTaskIds()).toEqual(['task']);
		expect([0, 1].map((item) => record.findTaskId(item))).toEqual(['task', undefined]);
		expect(open({ executionId: '2' }).record.listTaskIds()).toEqual([]);
	});

	it('is opened once for each try, and holds no token', () => {
		const { open, sendBoth, nodeContext } = newNode();
		sendBoth();
		const { context, record } = open();
		expect(openRecord(context)).toBe(record);
		expect(JSON.stringify(nodeContext)).not.toContain(TOKEN);
	});
});

describe('the retry of an execution that crashed after it had parked', () => {
	const retry = { executionId: '2' };

	it('recognizes its tasks wherever they are in the input', () => {
		const { open, sendBoth } = newNode();
		sendBoth();
		const input = [{}, { taskId: 'other' }, { taskId: 'task', status: 'completed' }];
		const { record } = open({ ...retry, input });
		expect([0, 1, 2].map((item) => record.recall(item))).toEqual([
			undefined,
			undefined,
			task(true),
		]);
		expect(open({ ...retry, input: [] }).record.recall(2)).toEqual(task(true));
	});

	it('takes no task over within one execution, or in another run', () => {
		const { open, sendBoth } = newNode();
		sendBoth();
		const input = [{}, {}, { taskId: 'task' }];
		expect(open({ input }).record.recall(2)).toBeUndefined();
		expect(open({ ...retry, run: 1, input }).record.recall(2)).toBeUndefined();
	});

	const parked = { run: 0, executionId: '1', until: 0 };
	const failed = { error: 'Refused ( [item 1]) [item 12]', message: 'Top up' };
	const refused = {
		error: expect.objectContaining({
			message: 'Refused ( [item 1])',
			description: 'Top up',
		}) as Error,
	};
	it.each<[string, object, object | undefined, object | undefined]>([
		['an error item of ours', failed, parked, refused],
		['an error of a tool', { error: 'Refused' }, parked, { error: new Error('Refused') }],
		['an item with an error and more', { ...failed, name: 'x' }, parked, undefined],
		['an item whose error is no text', { error: {} }, parked, undefined],
		['another item', { prompt: 'Night' }, parked, undefined],
		['an error item of a run that has not parked', failed, undefined, undefined],
		['one of another run', failed, { ...parked, run: 1 }, undefined],
		['one of this execution', failed, { ...parked, executionId: '2' }, undefined],
	])('recalls for %s what it stands for', (_, json, parking, expected) => {
		const { open } = newNode({ parked: parking });
		expect(open({ ...retry, input: [json] }).record.recall(0)).toEqual(expected);
	});
});

describe('an unknown outcome', () => {
	const asked = { prompt: 'A cat, on the roof', size: { width: 1, height: [2] } };
	const another = { ...asked, size: { width: 2, height: [2] } };
	const differently = { size: { height: [2], width: 1 }, prompt: ' a Cat on the ｒoof. ' };

	it.each<[string, Run, Run, object, object | undefined]>([
		['a tool', { isTool: true }, {}, asked, unknown],
		['a tool of the newest agent', { type: 'nodeTool' }, {}, asked, unknown],
		['a tool, in other words of the same letters', { isTool: true }, {}, differently, unknown],
		['a tool, for something else', { isTool: true }, {}, { ...asked, prompt: 'b' }, undefined],
		['a tool, for another number', { isTool: true }, {}, another, undefined],
		['a node', {}, {}, asked, undefined],
	])('is recalled in another call of %s', (_, kind, other, again, found) => {
		const { open } = newNode();
		const call = (run: number, json: object) =>
			open({ ...kind, run, input: [{ ...json, toolCallId: run }], ...other });
		const first = call(0, asked);
		first.record.addUnknown(first.send(0), UNKNOWN);
		expect(call(1, again).record.recall(0)).toEqual(found);
	});
});

it('each task and each unknown outcome is logged', () => {
	const { open, sendBoth, lines } = newNode();
	sendBoth();
	const { record, send } = open();
	record.addUnknown(send(2), { message: 'No answer' });
	const place = '"Media Generation" (workflow workflow, execution 1, item';
	expect(lines).toEqual([
		`${place} 0) created task task`,
		`${place} 1) may have created a task (the service named it named): The service broke off`,
		`${place} 2) may have created a task: No answer`,
	]);
	const agents = newNode();
	const call = agents.open(AGENT);
	call.record.addTask(call.send(0), 'task');
	expect(agents.lines).toEqual([`"Media Generation" (a tool of n8n's Agents) created task task`]);
});

describe("a call by an agent of n8n's Agents", () => {
	it('takes over no task of an earlier call, as each is the same place', () => {
		const { open } = newNode();
		const first = open(AGENT);
		first.record.addTask(first.send(0), 'task');
		const { record } = open(AGENT);
		expect(record.recall(0)).toBeUndefined();
		expect(record.findSame({ index: 0, request: REQUEST })).toBeUndefined();
		expect(record.listTaskIds()).toEqual([]);
	});

	it('recalls an unknown outcome of an earlier call', () => {
		const { open } = newNode();
		const call = (prompt: string) => open({ ...AGENT, input: [{ prompt }] });
		const first = call('A cat');
		first.record.addUnknown(first.send(0), UNKNOWN);
		expect(call('a cat.').record.recall(0)).toEqual(unknown);
		expect(call('A dog').record.recall(0)).toBeUndefined();
	});
});

describe('a stopped execution', () => {
	/** Creates tasks of these IDs, stops the execution, and returns the custom data that n8n keeps. */
	function stopAfter(ids: string[]) {
		const { open, customData } = newNode();
		const stop = new AbortController();
		const { record, send } = open({ signal: stop.signal });
		for (const [item, id] of ids.entries()) record.addTask(send(item), id);
		expect(customData.size).toBe(0);
		stop.abort();
		return [...customData];
	}

	it('shows the IDs, in entries that n8n keeps', () => {
		const ids = Array.from({ length: 60 }, (_, index) => `${index}`.padStart(32, '0'));
		const entries = [1, 2, 3, 4, 5].map((entry) => {
			const shown = ids.slice(7 * entry - 7, 7 * entry).join(', ');
			expect(shown.length).toBeLessThanOrEqual(255);
			return [`Media_Generation_tasks_${entry}`, shown];
		});
		const more = ['Media_Generation_more_tasks', '25, named in the log of n8n'];
		expect(stopAfter(ids)).toEqual([...entries, more]);
	});

	it('shows one ID in one entry', () => {
		expect(stopAfter(['task'])).toEqual([['Media_Generation_tasks_1', 'task']]);
	});
});

describe('an idempotency key', () => {
	const buildKey = (node: ReturnType<typeof newNode>, run: Run = {}, index = 0, body = REQUEST) => {
		const { record, send } = node.open(run);
		return record.buildIdempotencyKey(index, send(index).service, body);
	};

	it('is the same for one place and body, and has at most 128 characters', () => {
		const node = newNode();
		expect(buildKey(node)).toBe(buildKey(node));
		expect(buildKey(node)).toMatch(/^[\w-]{1,128}$/);
	});

	it.each([
		['another execution', { executionId: '2' }, 0, REQUEST],
		['another run', { run: 1 }, 0, REQUEST],
		['another item', {}, 1, REQUEST],
		['another body', {}, 0, OTHER],
	])('differs for %s', (_, run, index, body) => {
		const node = newNode();
		expect(buildKey(node, run, index, body)).not.toBe(buildKey(node));
	});

	it('is random where there is no execution, so that no call gets the task of another', () => {
		const node = newNode();
		const run = { executionId: undefined };
		expect(buildKey(node, run)).not.toBe(buildKey(node, run));
	});

	it('stays that of the first sending while retries from the list do not learn its outcome', () => {
		const node = newNode();
		const first = buildKey(node, {}, 1);
		node.sendBoth();
		expect(buildKey(node, { executionId: '2' }, 1)).toBe(first);
		const { record, send } = node.open({ executionId: '2' });
		record.addUnknown(send(1), UNKNOWN);
		expect(buildKey(node, { executionId: '3' }, 1)).toBe(first);
		expect(buildKey(node, { executionId: '3' }, 0)).not.toBe(buildKey(node, {}, 0));
	});

	it('is kept with what was sent in memory only, as that has the callback URL', () => {
		const node = newNode();
		const { record, send } = node.open();
		const body = { ...REQUEST, callBackUrl: 'https://n8n.example/?signature=token' };
		record.addUnknown(send(0), UNKNOWN, { body, idempotencyKey: 'key' });
		expect(node.open().record.recall(0)).toMatchObject({ body, idempotencyKey: 'key' });
		expect(JSON.stringify(node.nodeContext)).not.toContain('signature');
		const stored = newNode(JSON.parse(JSON.stringify(node.nodeContext)) as object);
		expect(stored.open().record.recall(0)).toEqual(unknown);
	});
});
