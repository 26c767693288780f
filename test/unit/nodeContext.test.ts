import type { IExecuteFunctions } from 'n8n-workflow';
import {
	getRunNotes,
	hasExecution,
	readDeadline,
	readShared,
	writeShared,
} from '../../nodes/MediaGeneration/operations/nodeContext';
import { buildContext } from './context';

const HOUR = 3_600_000;
const NODE = {
	parameters: { prompt: "={{ $fromAI('Prompt') }}" },
	credentials: { mediaGenerationApi: { id: '1', name: 'Account' } },
};

/** A call by an agent of n8n's Agents, of a tool that its owner set up so. */
const callOf = (node: object = NODE) => buildContext({ kept: null }, { getNode: () => node });

const runIn = (kept: object) => buildContext({ kept });

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
	const at = 1_000_000;
	/** The deadline, in seconds from now. */
	function read(setting: number | undefined, more: object = {}) {
		now = at;
		const getWorkflowSettings = () => ({ executionTimeout: setting });
		return (readDeadline({ getWorkflowSettings, ...more } as IExecuteFunctions) - at) / 1_000;
	}
	const n8n = (seconds: number) => ({
		additionalData: { executionTimeoutTimestamp: at + seconds * 1_000 },
	});
	/** n8n's Agents have called the workflow some seconds ago. */
	const agents = (secondsAgo: number) => ({
		runExecutionData: { parentAgentRun: {} },
		getExecutionContext: () => ({ establishedAt: at - secondsAgo * 1_000 }),
	});

	it.each<[string, number | undefined, object, number]>([
		["n8n's own, where the context has it", undefined, n8n(5), 5],
		["n8n's own, whatever the setting", 60, n8n(5), 5],
		["by the workflow's setting from now, where it has not", 60, {}, 60],
		['none without a setting', undefined, { additionalData: {} }, Infinity],
		['none with the setting -1', -1, {}, Infinity],
		['none with the setting 0', 0, {}, Infinity],
		["that of n8n's Agents", undefined, agents(20), 100],
		[
			"n8n's own, where that is before the one of Agents",
			undefined,
			{ ...agents(20), ...n8n(60) },
			60,
		],
		['none for a workflow of Agents that has slept', undefined, agents(120), Infinity],
	])('is %s', (_, setting, more, seconds) => {
		expect(read(setting, more)).toBe(seconds);
	});
});
