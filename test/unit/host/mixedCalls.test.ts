import type { IDataObject } from 'n8n-workflow';
import { isMixedUp } from '../../../nodes/MediaGeneration/host/execution';
import { executeOperation } from '../../../nodes/MediaGeneration/operations/execute';
import { openRecord } from '../../../nodes/MediaGeneration/run/open';
import { buildContext } from '../n8n';

const REQUEST = { model: 'beta2/image-edit', input: { prompt: 'Night' } };

/** Calls of a tool whose node n8n gives one context, and one list of calls, as n8n makes both. */
function newTool() {
	const kept = {};
	const calls: object[] = [];
	const note = (json: IDataObject) => calls.push({ inputOverride: { ai_tool: [[{ json }]] } });
	const call = (json: IDataObject, run: number, more: object = {}) =>
		buildContext(
			{ kept, isTool: true, run },
			{
				getInputData: () => [{ json }],
				getNodeParameter: (name: string) => ({ resource: 'task', operation: 'get' })[name] ?? '',
				...{ runExecutionData: { resultData: { runData: { Node: calls } } } },
				...more,
			},
		);
	return { note, call };
}

it('two items of an agent at once, which ask for the same, are two calls, and so are the next ones', () => {
	const { note, call } = newTool();
	const inputs = [1, 2, 3].map(() => ({ Prompt: 'Night' }));
	for (const input of inputs) note(input);
	const [first = {}, second = {}, third = {}] = inputs;
	expect(isMixedUp(call(first, 0))).toBe(false);
	// The other item counts from 0 too, and the next call of the first one meets its number.
	expect(isMixedUp(call(second, 0))).toBe(true);
	expect(isMixedUp(call(third, 1))).toBe(true);
});

it('a call that n8n has noted nowhere, or whose node is no tool, reads its own values', () => {
	const { note, call } = newTool();
	const input = { Prompt: 'Night' };
	expect(isMixedUp(call(input, 0, { runExecutionData: undefined }))).toBe(false);
	expect(isMixedUp(call(input, 0))).toBe(false);
	note({ ...input });
	expect(isMixedUp(call(input, 0))).toBe(true);
	expect(isMixedUp(call(input, 0, { isToolExecution: () => false }))).toBe(false);
});

it('a call that is mixed up is told so, by any operation, and of no task of another one', async () => {
	const { note, call } = newTool();
	const own = { Prompt: 'Night' };
	note(own);
	openRecord(call(own, 0)).addTask(0, REQUEST, 'of-the-first');
	const other = call({ ...own }, 0);
	expect(openRecord(other).recall(0)).toBeUndefined();
	expect(openRecord(other).listTaskIds()).toEqual([]);
	const [[item] = []] = await executeOperation(other);
	expect(item?.json).toEqual({ error: expect.stringContaining("Set 'Batch Size' to 1") as string });
	expect(JSON.stringify(item)).not.toContain('of-the-first');
});
