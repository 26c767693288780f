import fc from 'fast-check';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { createTasks } from '../../../nodes/MediaGeneration/operations/create/createTasks';
import { toErrorItem } from '../../../nodes/MediaGeneration/operations/errors';
import { hasFailed, type Failed } from '../../../nodes/MediaGeneration/operations/operation';
import { openRecord } from '../../../nodes/MediaGeneration/operations/record';
import { buildContext, type Run } from '../context';
import { buildItem, refuse, unknown as lost, type Prepared } from './creations';

const REQUEST = { model: 'beta2/image-edit', input: { prompt: 'Night' } };
const OTHER = { ...REQUEST, input: { prompt: 'Day' } };
const UNKNOWN = { message: 'The service broke off', taskId: 'named' };
/** A call by an agent of n8n's Agents. */
const AGENT: Run = { kept: null, executionId: '', type: 'nodeTool' };
const RETRY: Run = { executionId: '2' };

/** A node whose context n8n keeps, and its record in each try. */
function newNode() {
	const kept = {};
	const lines: string[] = [];
	const customData = new Map<string, string>();
	const log = (line: string) => lines.push(line);
	const open = (run: Run = {}) =>
		openRecord(
			buildContext(
				{ kept, ...run },
				{
					getWorkflowDataProxy: () => ({ $runIndex: run.run ?? 0, $execution: { customData } }),
					logger: { info: log, warn: log },
				},
			),
		);
	/** Creates a task for item 0, and leaves it unknown whether there is one for item 1. */
	const sendBoth = (run?: Run) => {
		open(run).addTask(0, REQUEST, 'task');
		open(run).addUnknown(1, REQUEST, UNKNOWN);
	};
	return { open, sendBoth, lines, customData };
}

const task = (elsewhere: boolean) =>
	expect.objectContaining({
		taskId: 'task',
		model: REQUEST.model,
		...(elsewhere && { elsewhere }),
	}) as object;
const NOTHING = [undefined, undefined, undefined];
const unknown = { error: expect.objectContaining({ message: UNKNOWN.message }) as Error };

describe('the record of a run that sent a task for one item, and another without an answer', () => {
	it.each<[string, Run, unknown[], typeof REQUEST, object | undefined]>([
		['the next try', {}, [task(false), unknown, undefined], OTHER, undefined],
		['a retry from the list', RETRY, NOTHING, REQUEST, task(true)],
		['a corrected retry from the list', RETRY, NOTHING, OTHER, undefined],
		['the next run of a loop', { run: 1 }, NOTHING, REQUEST, undefined],
	])('knows in %s', (_, again, recalled, request, same) => {
		const { open, sendBoth } = newNode();
		sendBoth();
		const record = open(again);
		expect([0, 1, 2].map((item) => record.recall(item))).toEqual(recalled);
		const found = [0, 1, 2].map((item) => record.findSame(item, request));
		// Whoever retries an unknown outcome has decided about it.
		expect(found).toEqual([same, undefined, undefined]);
		expect(open(again).listTaskIds()).toEqual(recalled[0] || same ? ['task'] : []);
	});

	it('keeps a task that a retry took over, though its expressions return another value now', () => {
		const { open, sendBoth } = newNode();
		sendBoth();
		open(RETRY).findSame(0, REQUEST);
		expect(open(RETRY).recall(0)).toEqual(task(true));
		expect(open(RETRY).findTaskId(0)).toBe('task');
	});

	it('keeps it over a retry that ended before it came to the item', () => {
		const { open, sendBoth } = newNode();
		sendBoth();
		open(RETRY);
		expect(open({ executionId: '3' }).findSame(0, REQUEST)).toEqual(task(true));
	});

	it('logs each', () => {
		const { open, sendBoth, lines } = newNode();
		sendBoth();
		open().addUnknown(2, REQUEST, { message: 'No answer' });
		const place = '"Node" (workflow workflow, execution 1, item';
		expect(lines).toEqual([
			`${place} 0) created task task`,
			`${place} 1) may have created task named: The service broke off`,
			`${place} 2) may have created a task: No answer`,
		]);
	});
});

describe('the wait of a run', () => {
	/** Opens it; `read` is how its settings are read. */
	const openWait = ({ open }: ReturnType<typeof newNode>, read: string, run?: Run) =>
		open(run).openWait(() => read);

	it.each<[string, Run, object]>([
		['goes on in the next try', {}, { settings: 'first', begun: 5 }],
		['is another in the next run', { run: 1 }, { settings: 'now' }],
		['is another in a retry', RETRY, { settings: 'now' }],
	])('%s', (_, again, wait) => {
		const node = newNode();
		openWait(node, 'first').begun = 5;
		expect(openWait(node, 'now', again)).toEqual(wait);
	});

	it('has in a retry of what had parked the settings of then, as its input is what was parked', () => {
		const node = newNode();
		openWait(node, 'first').parkedUntil = 1;
		expect(openWait(node, 'now', RETRY)).toEqual({ settings: 'first' });
		expect(openWait(node, 'now', { executionId: '3' })).toEqual({ settings: 'first' });
	});
});

describe('a retry of an execution that crashed', () => {
	it('recognizes tasks wherever they are in the input, in the same run of another execution', () => {
		const { open, sendBoth } = newNode();
		sendBoth();
		const input = [{}, { taskId: 'other' }, { taskId: 'task', status: 'completed' }];
		const recall = (run: Run) => [0, 1, 2].map((item) => open({ input, ...run }).recall(item));
		expect(recall({ ...RETRY, run: 1 })).toEqual(NOTHING);
		sendBoth();
		expect(recall({})).toEqual([task(false), unknown, undefined]);
		expect(recall(RETRY)).toEqual([undefined, undefined, task(true)]);
	});

	const failed = { error: 'Refused ( [item 1]) [item 12]', message: 'Top up' };
	const refused = { message: 'Refused ( [item 1])', description: 'Top up' };
	it.each<[string, object, Run, object | undefined]>([
		['an error item of ours', failed, RETRY, refused],
		['an error item without a next step', { error: 'Refused' }, RETRY, { message: 'Refused' }],
		['an item with an error and more', { ...failed, name: 'x' }, RETRY, undefined],
		['an item whose error is no text', { error: {} }, RETRY, undefined],
		['another item', { prompt: 'Night' }, RETRY, undefined],
		['an error item in another run', failed, { ...RETRY, run: 1 }, undefined],
		['an error item of this execution', failed, {}, undefined],
	])('after it had parked, takes %s for what it is', (_, json, again, error) => {
		const { open } = newNode();
		open().openWait(() => 0).parkedUntil = 1;
		const expected = error && { error: expect.objectContaining(error) as Error };
		expect(open({ ...again, input: [json] }).recall(0)).toEqual(expected);
	});

	it('before it had parked, reads an error item like any other', () => {
		const { open } = newNode();
		open().openWait(() => 0);
		expect(open({ ...RETRY, input: [failed] }).recall(0)).toBeUndefined();
	});
});

describe('a call by an agent', () => {
	const asked = { prompt: 'A cat', size: { width: 1, height: 2 } };
	it.each<[string, Run, Run, object | undefined]>([
		['is refused in a tool', { isTool: true }, {}, unknown],
		['is refused in a tool of the newest agent', { type: 'nodeTool' }, {}, unknown],
		["is refused in n8n's Agents", AGENT, {}, unknown],
		['is let in for something else', { isTool: true }, { input: [{ prompt: 'A dog' }] }, undefined],
		['is let in after another execution', { isTool: true }, { executionId: '2' }, undefined],
		['is let in for another set-up', AGENT, { parameters: { prompt: 'x' } }, undefined],
		['is no call in a node', {}, {}, undefined],
	])('that asks again for an unknown outcome %s', (_, kind, again, found) => {
		const { open } = newNode();
		const call = (run: number, more: Run = {}) =>
			open({ input: [{ ...asked, toolCallId: run }], ...kind, run, ...more });
		call(0).addUnknown(0, REQUEST, UNKNOWN);
		expect(call(1, again).recall(0)).toEqual(found);
	});

	it("takes over no task of an earlier one in n8n's Agents, as each is the same place", () => {
		const { open } = newNode();
		open(AGENT).addTask(0, REQUEST, 'task');
		expect(open(AGENT).recall(0)).toBeUndefined();
		expect(open(AGENT).findSame(0, REQUEST)).toBeUndefined();
	});

	it("shares its count with the others of the tool, for an hour in n8n's Agents", () => {
		const now = jest.spyOn(Date, 'now').mockReturnValue(0);
		const own: Run = { ...AGENT, parameters: { own: true } };
		const { open } = newNode();
		open(own).shared.count = 3;
		const read = (time: number) => now.mockReturnValue(time) && open(own).shared.count;
		expect([read(3_599_999), read(3_600_000)]).toEqual([3, 0]);
		now.mockRestore();
		open({ isTool: true }).shared.count = 2;
		const counts = [{ run: 1 }, RETRY].map((run) => open({ isTool: true, ...run }).shared.count);
		expect(counts).toEqual([2, 0]);
	});
});

it('a stopped execution shows its tasks once, in an entry that n8n keeps', () => {
	const { open, sendBoth, customData } = newNode();
	sendBoth();
	const stop = new AbortController();
	const retried = { ...RETRY, signal: stop.signal };
	const record = open(retried);
	record.findSame(0, REQUEST);
	for (let item = 1; item < 60; item++) record.addTask(item, REQUEST, `task-${item}`);
	expect(customData.size).toBe(0);
	stop.abort();
	const [[name, ids = ''] = [], ...others] = customData;
	expect([name, others]).toEqual(['Media_Generation_tasks', []]);
	expect(ids).toMatch(/^task, task-1, task-2, .*…$/);
	expect(ids).toHaveLength(255);
});

describe('an idempotency key', () => {
	type Node = ReturnType<typeof newNode>;
	const buildKey = (node: Node, run: Run = {}, item = 0, account = 'mine', body = REQUEST) =>
		node.open(run).buildIdempotencyKey(item, account, body);

	it.each<[string, ...Parameters<typeof buildKey>]>([
		['execution', newNode(), RETRY],
		['run', newNode(), { run: 1 }],
		['item', newNode(), {}, 1],
		['account', newNode(), {}, 0, 'yours'],
		['body', newNode(), {}, 0, 'mine', OTHER],
	])('differs for another %s, and stays the same for one', (_, node, ...place) => {
		const key = buildKey(node);
		expect(key).toMatch(/^[\w-]{1,128}$/);
		expect(buildKey(node)).toBe(key);
		expect(buildKey(node, ...place)).not.toBe(key);
	});

	it('stays the same from one version of the package to the next', () => {
		expect(buildKey(newNode())).toBe('tu1u3t6BERv4KO2WTbXLvA');
	});

	it('is random without an execution, so that no call gets the task of another', () => {
		expect(buildKey(newNode(), AGENT)).not.toBe(buildKey(newNode(), AGENT));
	});

	it('stays that of the first sending while retries do not learn its outcome', () => {
		const node = newNode();
		const [known, first] = [0, 1].map((item) => buildKey(node, {}, item));
		node.sendBoth();
		expect(buildKey(node, RETRY, 1)).toBe(first);
		expect(buildKey(node, RETRY, 0)).not.toBe(known);
		node.open(RETRY).addUnknown(1, REQUEST, UNKNOWN);
		expect(buildKey(node, { executionId: '3' }, 1)).toBe(first);
	});
});

/** What n8n does next, and what the service makes of each item then. */
interface Step {
	next: 'repeat' | 'loop' | 'retry';
	answers: Array<'task' | 'unknown' | 'refused'>;
	onError: 'stop' | 'continue';
	parks: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
	next: fc.constantFrom('repeat', 'loop', 'retry'),
	answers: fc.array(fc.constantFrom('task', 'unknown', 'refused'), { minLength: 3, maxLength: 3 }),
	onError: fc.constantFrom('stop', 'continue'),
	parks: fc.boolean(),
});

/** n8n around one node with three items, and the service, which notes what it is sent. */
class Execution {
	private kept: object = {};
	private id = 1;
	private run = 0;
	private input: INodeExecutionData[] = [{ json: {} }, { json: {} }, { json: {} }];
	private tries = 0;
	private readonly parkedRuns = new Set<number>();
	readonly sent: Array<{ place: string; id: number; seed: number; answer: string }> = [];
	/** What was sent for a run after it had parked. */
	readonly sentAfterPark: string[] = [];

	async take({ next, ...step }: Step): Promise<void> {
		if (next === 'loop') {
			this.run++;
			this.input = [{ json: {} }, { json: {} }, { json: {} }];
		} else if (next === 'retry') {
			this.id++;
			this.kept = JSON.parse(JSON.stringify(this.kept)) as object;
		}
		await this.try(step);
	}

	private async try({ answers, onError, parks }: Omit<Step, 'next'>): Promise<void> {
		const context = buildContext(
			{
				kept: this.kept,
				run: this.run,
				executionId: String(this.id),
				goesOn: onError === 'continue',
			},
			{ getInputData: () => this.input },
		);
		const record = openRecord(context);
		if (record.wait?.parkedUntil !== undefined) return;
		const recalled = this.input.map((_, index) => record.recall(index));
		if (onError === 'stop' && recalled.some(hasFailed)) return;
		const indices = [0, 1, 2].filter((index) => !hasFailed(recalled[index]));
		const prepared = indices.map((index) => ({
			item: buildItem(context, index, {
				createTask: (body) => this.answer(body.input as never, answers[index] as string),
			}),
			request: recalled[index] ?? this.buildRequest(index),
		})) as Prepared[];
		const wait = record.openWait(() => 0);
		const { results } = await createTasks(prepared, context);
		const outcomes = this.input.map((_, index) =>
			hasFailed(recalled[index]) ? recalled[index] : results[indices.indexOf(index)],
		);
		if (!parks || (onError === 'stop' && outcomes.some(hasFailed))) return;
		wait.parkedUntil = 1;
		this.parkedRuns.add(this.run);
		this.input = outcomes.map((outcome, index) => {
			if (outcome && 'task' in outcome) return { json: { ...outcome.task } as IDataObject };
			return toErrorItem(context, (outcome as Failed).error, index);
		});
	}

	/** Its expressions return another value in each try, and the same again in a retry. */
	private buildRequest(index: number) {
		const place = `${this.run}/${index}`;
		const before = this.sent.filter((one) => one.place === place && one.id !== this.id);
		return { model: 'model', input: { place, seed: before.at(-1)?.seed ?? ++this.tries } };
	}

	private answer(input: { place: string; seed: number }, answer: string): string | Error {
		this.sent.push({ ...input, id: this.id, answer });
		if (this.parkedRuns.has(this.run)) this.sentAfterPark.push(input.place);
		if (answer === 'task') return `${input.place}-${this.sent.length}`;
		return answer === 'unknown' ? lost() : refuse(422);
	}
}

it('in any order of what n8n repeats, no place is paid for twice in one run', async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
			const execution = new Execution();
			for (const one of steps) await execution.take(one);
			const { sent, sentAfterPark } = execution;
			const after = sent.filter((one, index) =>
				sent.slice(0, index).some(({ place, answer, id }) => {
					// A retry from the list may send again what is unknown: its user has decided.
					const isFinal = answer === 'task' || (answer === 'unknown' && id === one.id);
					return place === one.place && isFinal;
				}),
			);
			expect(after).toEqual([]);
			expect(sentAfterPark).toEqual([]);
		}),
		{ numRuns: 500 },
	);
});
