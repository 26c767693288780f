import fc from 'fast-check';
import type { INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';
import { openRecord } from '../../../nodes/MediaGeneration/run/open';
import type { RunRecord } from '../../../nodes/MediaGeneration/operations/record/runRecord';
import { readSleepingRun } from '../../../nodes/MediaGeneration/operations/record/sleepingRun';
import type { Sleep, Wait } from '../../../nodes/MediaGeneration/operations/record/wait';
import { waitForTasks } from '../../../nodes/MediaGeneration/operations/wait/waitForTasks';
import { buildContext, fake, type Run, WAIT } from '../n8n';
import { create, type Answer } from './creatingRun';

jest.mock('../../../nodes/MediaGeneration/run/decide', () => ({
	decideWait: async () => ({}),
}));
jest.mock('../../../nodes/MediaGeneration/operations/wait/waitForTasks');

const REQUEST = { model: 'beta2/image-edit', input: { prompt: 'Night' } };
const OTHER = { ...REQUEST, input: { prompt: 'Day' } };
const UNKNOWN = { message: 'The service broke off', taskId: 'named' };
/** A call by an agent of n8n's Agents. */
const AGENT: Run = { kept: null, executionId: '', type: 'nodeTool' };
const RETRY: Run = { executionId: '2' };
const toItems = (names: string[]): INodeExecutionData[] =>
	names.map((name) => ({ json: { name } }));

/** A node whose context n8n keeps, and its record in each try. */
function newNode() {
	const kept: { run?: { wait: Wait } } = {};
	const lines: string[] = [];
	const customData = new Map<string, string>();
	const log = (line: string) => lines.push(line);
	const open = (run: Run = {}, more: object = {}) =>
		openRecord(
			buildContext(
				{ kept, ...run },
				{
					getWorkflowDataProxy: () => ({ $runIndex: run.run ?? 0, $execution: { customData } }),
					logger: { info: log, warn: log },
					...more,
				},
			),
		);
	/** Creates a task for item 0, and leaves it unknown whether there is one for item 1. */
	const sendBoth = (run?: Run) => {
		open(run).addTask(0, REQUEST, 'task');
		open(run).addUnknown(1, REQUEST, UNKNOWN);
	};
	return { open, sendBoth, kept, lines, customData };
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

it('a failed task that another call of the run has created again meanwhile is not created once more', () => {
	const { open } = newNode();
	const node = { name: 'Node', type: 'mediaGeneration', retryOnFail: true, maxTries: 3 };
	const begin = () => open({}, { getNode: () => node });
	const record = begin();
	for (const item of [0, 1]) {
		record.addTask(item, REQUEST, `task-${item}`);
		record.addFailed(item, { taskId: `task-${item}`, status: 'failed', failCode: '501' });
	}
	const [one, other] = [begin(), begin()];
	one.addTask(1, REQUEST, 'next');
	expect([0, 1].map((item) => other.createsAgain(item))).toEqual([true, false]);
	expect(other.recall(1)).toMatchObject({ taskId: 'next' });
});

describe('the wait of a run', () => {
	/** Opens it; the limit is what its settings are read as. */
	const openWait = ({ open }: ReturnType<typeof newNode>, limit: number, run?: Run) =>
		open(run).openWait(() => ({ ...WAIT, limit }));

	it.each<[string, Run, object]>([
		['goes on in the next try', {}, { settings: { ...WAIT, limit: 1 }, begun: 5 }],
		['is another in the next run', { run: 1 }, { settings: { ...WAIT, limit: 2 } }],
		['is another in a retry', RETRY, { settings: { ...WAIT, limit: 2 } }],
	])('%s', (_, again, wait) => {
		const node = newNode();
		openWait(node, 1).begun = 5;
		expect(openWait(node, 2, again)).toEqual(wait);
	});
});

describe('the sleep of a run', () => {
	const input = toItems(['a', 'b', 'c']);
	const failures = { 2: { message: 'Refused', description: 'Top up' } };
	const sleep: Sleep = { number: 1, until: 2, input: [input], failures };
	const refused = { error: expect.objectContaining(failures[2]) as Error };
	const ended = { taskId: 'task', status: 'completed' as const, prompt: 'A cat' };

	/** A run that sleeps for its first item; its third was refused. */
	function newSleep() {
		const node = newNode();
		node.sendBoth();
		node.open().openWait(() => WAIT).begun = 1;
		const run = node.open().sleep(structuredClone(sleep));
		/** A webhook wakes it. */
		const wake = () => {
			const { asleep } = node.kept.run?.wait ?? {};
			Object.assign(asleep as Sleep, { woken: [ended] });
		};
		return { ...node, run, wake };
	}
	const recallAll = (record: RunRecord) => [0, 1, 2].map((item) => record.recall(item));

	it('goes on at a repeat, which only a webhook can make another', () => {
		const { open, wake } = newSleep();
		expect([1, 2].map(() => open())).toMatchObject([{ asleep: sleep }, { asleep: sleep }]);
		expect(open().woken).toBeUndefined();
		wake();
		expect(open()).toMatchObject({ asleep: undefined, woken: { ...sleep, woken: [ended] } });
	});

	it('is taken out of what n8n stores by the run that it is woken for', () => {
		const { open, wake, kept } = newSleep();
		wake();
		open();
		expect(kept.run?.wait).toStrictEqual({ settings: WAIT, begun: 1 });
	});

	it('keeps tasks and errors of items for the woken run; a try after it may send what was refused', () => {
		const { open, wake } = newSleep();
		wake();
		expect(recallAll(open())).toEqual([task(false), unknown, refused]);
		expect(recallAll(open())).toEqual([task(false), unknown, undefined]);
	});

	it('is nothing for the retry of a run that was woken, or had begun again', () => {
		for (const begins of [false, true]) {
			const { open, wake } = newSleep();
			wake();
			if (begins) open();
			// Its input is that of any run, so nothing may be put in its place.
			const record = open(RETRY);
			expect(recallAll(record)).toEqual(NOTHING);
			expect(record.findSame(0, REQUEST)).toEqual(task(true));
			const settings = { ...WAIT, limit: 2 };
			expect(record.openWait(() => settings)).toEqual({ settings });
		}
	});

	it('is read by a webhook, with the tasks and how they are waited for', () => {
		const { kept, run, open } = newSleep();
		const read = (contextData: object) =>
			readSleepingRun(
				fake<IWebhookFunctions>({
					getNode: () => ({ name: 'Node' }),
					runExecutionData: { executionData: { contextData } },
				}),
			);
		expect(run).toMatchObject({ tasks: [task(false)], settings: WAIT, asleep: sleep });
		expect(read({ 'node:Node': kept })).toEqual(run);
		expect(read({ 'node:Other': kept })).toBeUndefined();
		open({ run: 1 });
		expect(read({ 'node:Node': kept })).toBeUndefined();
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

/** What n8n does next, and what the service makes of each item then. */
interface Step {
	/** `wake`: a webhook wakes the run if it sleeps. */
	next: 'repeat' | 'loop' | 'retry' | 'wake';
	answers: Array<'task' | 'unknown' | 'refused'>;
	onError: 'stop' | 'continue';
	sleeps: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
	next: fc.constantFrom('repeat', 'loop', 'retry', 'wake'),
	answers: fc.array(fc.constantFrom('task', 'unknown', 'refused'), { minLength: 3, maxLength: 3 }),
	onError: fc.constantFrom('stop', 'continue'),
	sleeps: fc.boolean(),
});

const THREE = toItems(['a', 'b', 'c']);

/** n8n around one node with three items, and the service, which notes what it is sent. */
class Execution {
	private kept: { run?: { wait?: Wait } } = {};
	private id = 1;
	private run = 0;
	private data = { main: [[...THREE]] };
	private tries = 0;
	private isWoken = false;
	readonly sent: Array<{ place: string; id: number; seed: number; answer: string }> = [];
	/** What must not happen. */
	readonly wrong: string[] = [];

	async take({ next, ...step }: Step): Promise<void> {
		const { asleep } = this.kept.run?.wait ?? {};
		// n8n doesn't run a node that slept again, and passes on what it stored (`e2e/sleep`).
		if (next === 'retry' && asleep) return;
		this.isWoken = next === 'wake' && asleep !== undefined;
		if (next === 'loop') {
			this.run++;
			this.data = { main: [[...THREE]] };
		} else if (next === 'retry') {
			this.id++;
			this.kept = JSON.parse(JSON.stringify(this.kept)) as typeof this.kept;
		} else if (this.isWoken && asleep) {
			asleep.woken = [];
			this.data = { main: asleep.input as INodeExecutionData[][] };
		}
		await this.try(step);
	}

	private async try({ answers, onError, sleeps }: Omit<Step, 'next'>): Promise<void> {
		jest.mocked(waitForTasks).mockImplementation(async (_, works, { record }) => {
			const outcomes = works.map(({ task }) => ({ items: [{ json: task }] }));
			if (!sleeps || record.woken) return { outcomes };
			const fallAsleep = async (_items: unknown, failures: Sleep['failures']) => {
				record.sleep({ until: 2, input: this.data.main, failures });
				this.data = { main: [toItems(['stored'])] };
			};
			return { outcomes, fallAsleep };
		});
		const input = JSON.stringify(this.data.main);
		const { wait } = this.kept.run ?? {};
		if (!wait?.asleep || this.isWoken)
			if (input !== JSON.stringify([THREE])) this.wrong.push('input');
		await create({
			kept: this.kept,
			run: this.run,
			executionId: String(this.id),
			goesOn: onError === 'continue',
			readWait: () => WAIT,
			prompt: ({ index }) => JSON.stringify(this.buildInput(index)),
			answer: (prompt) => this.answer(JSON.parse(prompt) as Input, answers),
			more: {
				getInputData: () => this.data.main[0],
				getExecuteData: () => ({ data: this.data }),
				putExecutionToWait() {},
			},
		});
	}

	/** Its expressions return another value in each try, and the same again in a retry. */
	private buildInput(index: number): Input {
		const place = `${this.run}/${index}`;
		const before = this.sent.filter((one) => one.place === place && one.id !== this.id);
		return { index, place, seed: before.at(-1)?.seed ?? ++this.tries };
	}

	private answer(input: Input, answers: Step['answers']): Answer {
		const answer = answers[input.index] as Step['answers'][number];
		this.sent.push({ ...input, id: this.id, answer });
		if (this.isWoken) this.wrong.push(`${input.place} is sent by a woken run`);
		return answer === 'task' ? { taskId: `${input.place}-${this.sent.length}` } : answer;
	}
}

/** What the request for an item is told apart by. */
interface Input {
	index: number;
	place: string;
	seed: number;
}

it('in any order of what n8n repeats, no place is paid for twice in one run', async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
			const execution = new Execution();
			for (const one of steps) await execution.take(one);
			const { sent, wrong } = execution;
			const after = sent.filter((one, index) =>
				sent.slice(0, index).some(({ place, answer, id }) => {
					// A retry from the list may send again what is unknown: its user has decided.
					const isFinal = answer === 'task' || (answer === 'unknown' && id === one.id);
					return place === one.place && isFinal;
				}),
			);
			expect(after).toEqual([]);
			expect(wrong).toEqual([]);
		}),
		{ numRuns: 500 },
	);
});

it('keeps what may be a mistake in a request with its task, in a try, a retry and a sleep', () => {
	const { open } = newNode();
	const warning = 'faktor is no field';
	open().addTask(0, { ...REQUEST, warning }, 'task');
	expect(open().recall(0)).toMatchObject({ taskId: 'task', warning });
	const record = open();
	record.openWait(() => WAIT);
	const { tasks } = record.sleep({ until: 0, input: [], failures: {} });
	expect(tasks).toMatchObject([{ taskId: 'task', warning }]);
	expect(open(RETRY).findSame(0, REQUEST)).toMatchObject({ taskId: 'task', warning });
});
