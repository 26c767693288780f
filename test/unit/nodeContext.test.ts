import type { IExecuteFunctions } from 'n8n-workflow';
import {
	getRunNotes,
	hasExecution,
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
