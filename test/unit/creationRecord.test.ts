import type { IExecuteFunctions } from 'n8n-workflow';
import { CreationRecord } from '../../nodes/MediaGeneration/operations/create/creationRecord';

const REQUEST = { model: 'beta2/image-edit', input: { prompt: 'Night' } };
const OTHER = { model: 'beta2/image-edit', input: { prompt: 'Day' } };
const UNKNOWN = { message: 'The service broke off', taskId: 'named' };

interface Run {
	executionId?: string;
	run?: number;
	type?: string;
	isTool?: boolean;
	input?: object;
	signal?: AbortSignal;
}

/** A node whose context n8n keeps, and its record in each try. */
function newNode() {
	const nodeContext = {};
	const lines: string[] = [];
	const customData = new Map<string, string>();
	const log = (line: string) => lines.push(line);
	const open = ({ executionId = '1', run = 0, type = 'node', isTool, input, signal }: Run = {}) =>
		new CreationRecord({
			getContext: () => nodeContext,
			getExecutionId: () => executionId,
			getWorkflowDataProxy: () => ({ $runIndex: run, $execution: { customData } }),
			getNode: () => ({ name: 'Media Generation', type }),
			getWorkflow: () => ({ id: 'workflow' }),
			getInputData: () => [{ json: input ?? {} }],
			getExecutionCancelSignal: () => signal,
			isToolExecution: () => Boolean(isTool),
			logger: { info: log, warn: log },
		} as unknown as IExecuteFunctions);
	return { open, lines, customData };
}

describe('CreationRecord', () => {
	const task = (elsewhere: boolean) => ({ taskId: 'task', elsewhere });
	const unknown = { unknown: UNKNOWN };

	it.each<[string, Run, typeof REQUEST, object | undefined, object | undefined]>([
		['the next try', {}, REQUEST, task(false), unknown],
		['a try with another request', {}, OTHER, task(false), unknown],
		// The user has decided about what was unknown.
		['a retry from the list', { executionId: '2' }, REQUEST, task(true), undefined],
		['a corrected retry from the list', { executionId: '2' }, OTHER, undefined, undefined],
		['the next run of a loop', { run: 1 }, REQUEST, undefined, undefined],
	])('finds what there is to find in %s', (_, again, request, created, unclear) => {
		const { open } = newNode();
		open().addTask(0, REQUEST, 'task');
		open().addUnknown(1, REQUEST, UNKNOWN);
		const record = open(again);
		expect([0, 1, 2].map((item) => record.find(item, request))).toEqual([
			created,
			unclear,
			undefined,
		]);
	});

	it.each<[string, Run, Run, object | undefined]>([
		['a tool', { isTool: true }, {}, unknown],
		['a tool of the newest agent', { type: 'nodeTool' }, {}, unknown],
		['a tool, for something else', { isTool: true }, { input: { prompt: 'b' } }, undefined],
		['a node', {}, {}, undefined],
	])('finds an unknown outcome in another call of %s', (_, kind, other, found) => {
		const { open } = newNode();
		const call = { ...kind, input: { prompt: 'a', toolCallId: 1 } };
		open(call).addUnknown(0, REQUEST, UNKNOWN);
		const again = { ...kind, input: { prompt: 'a', toolCallId: 2 }, run: 1, ...other };
		expect(open(again).find(0, REQUEST)).toEqual(found);
	});

	it('logs each task and each unknown outcome', () => {
		const { open, lines } = newNode();
		open().addTask(0, REQUEST, 'task');
		open().addUnknown(1, REQUEST, UNKNOWN);
		open().addUnknown(2, REQUEST, { message: 'No answer' });
		const place = '"Media Generation" (workflow workflow, execution 1, item';
		expect(lines).toEqual([
			`${place} 0) created task task`,
			`${place} 1) may have created a task (the service named it named): The service broke off`,
			`${place} 2) may have created a task: No answer`,
		]);
	});

	/** Creates tasks of these IDs, stops the execution, and returns the custom data that n8n keeps. */
	function stopAfter(ids: string[]) {
		const { open, customData } = newNode();
		const stop = new AbortController();
		const record = open({ signal: stop.signal });
		for (const [item, id] of ids.entries()) record.addTask(item, REQUEST, id);
		expect(customData.size).toBe(0);
		stop.abort();
		return [...customData];
	}

	it('shows the IDs when the execution is stopped, in entries that n8n keeps', () => {
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
