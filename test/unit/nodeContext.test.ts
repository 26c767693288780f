import type { IExecuteFunctions } from 'n8n-workflow';
import {
	getRunNotes,
	hasExecution,
	readDeadline,
	readShared,
	writeShared,
} from '../../nodes/MediaGeneration/operations/nodeContext';

const HOUR = 3_600_000;
const NODE = {
	parameters: { prompt: "={{ $fromAI('Prompt') }}" },
	credentials: { mediaGenerationApi: { id: '1', name: 'Account' } },
};

/** A call by an agent of n8n's Agents, of a tool that its owner set up so. */
const callOf = (node: object = NODE) =>
	({
		getContext() {
			throw new Error('`executionData` is not initialized');
		},
		getNode: () => node,
	}) as unknown as IExecuteFunctions;

/** A run in an execution whose context n8n keeps. */
const runIn = (kept: object) => ({ getContext: () => kept }) as unknown as IExecuteFunctions;

let now = 0;
beforeEach(() => {
	now += 2 * HOUR;
	jest.spyOn(Date, 'now').mockImplementation(() => now);
});

it('tells where there is an execution', () => {
	expect(hasExecution(runIn({}))).toBe(true);
	expect(hasExecution(callOf())).toBe(false);
});

it('n8n keeps the notes with the execution', () => {
	const kept = {};
	getRunNotes(runIn(kept)).one = 1;
	writeShared(runIn(kept), 'two', { value: 2 });
	expect(kept).toEqual({ one: 1, two: { value: 2 } });
	expect(getRunNotes(runIn(kept))).toBe(kept);
	expect(readShared(runIn(kept), 'two')).toEqual({ value: 2 });
	expect(readShared(runIn({}), 'two')).toBeUndefined();
});

describe("without an execution, in n8n's Agents", () => {
	it('a call has notes of its own', () => {
		const call = callOf();
		getRunNotes(call).one = 1;
		expect(getRunNotes(call)).toEqual({ one: 1 });
		expect(getRunNotes(callOf())).toEqual({});
	});

	it.each<[string, object, unknown]>([
		['the same tool', structuredClone(NODE), { value: 2 }],
		['a tool with other parameters', { ...NODE, parameters: {} }, undefined],
		['a tool with another credential', { ...NODE, credentials: {} }, undefined],
	])('what is shared is read by the calls of %s', (_, node, found) => {
		writeShared(callOf(), 'shared', { value: 2 });
		expect(readShared(callOf(node), 'shared')).toEqual(found);
		expect(readShared(callOf(node), 'other')).toBeUndefined();
	});

	it('what is shared is forgotten after an hour', () => {
		writeShared(callOf(), 'shared', {});
		now += HOUR - 1;
		expect(readShared(callOf(), 'shared')).toEqual({});
		now += 1;
		expect(readShared(callOf(), 'shared')).toBeUndefined();
	});
});

describe('the deadline of an execution', () => {
	const read = (context: object) =>
		readDeadline({ getWorkflowSettings: () => ({}), ...context } as IExecuteFunctions);

	it("is n8n's own, where the context has it", () => {
		const getWorkflowSettings = () => ({ executionTimeout: 60 });
		const additionalData = { executionTimeoutTimestamp: 5_000 };
		expect(read({ additionalData })).toBe(5_000);
		expect(read({ additionalData, getWorkflowSettings })).toBe(5_000);
	});

	it("counts from now by the workflow's setting, where it has not", () => {
		jest.spyOn(Date, 'now').mockReturnValue(1_000);
		expect(read({ getWorkflowSettings: () => ({ executionTimeout: 60 }) })).toBe(61_000);
		jest.restoreAllMocks();
	});

	it.each([undefined, -1, 0])('is none with the setting %s', (executionTimeout) => {
		expect(read({ additionalData: {}, getWorkflowSettings: () => ({ executionTimeout }) })).toBe(
			Infinity,
		);
	});

	const agents = (establishedAt: number) => ({
		runExecutionData: { parentAgentRun: {} },
		getExecutionContext: () => ({ establishedAt }),
	});

	it("is that of n8n's Agents for a workflow that they call, where it comes first", () => {
		const now = Date.now();
		const additionalData = { executionTimeoutTimestamp: now + 60_000 };
		expect(read(agents(now - 20_000))).toBe(now + 100_000);
		expect(read({ ...agents(now - 20_000), additionalData })).toBe(now + 60_000);
	});

	it('is no longer that of Agents for a workflow that has slept', () => {
		expect(read(agents(Date.now() - 120_000))).toBe(Infinity);
	});
});
