import type { IDataObject } from 'n8n-workflow';
import { executeOperation } from '../../../nodes/MediaGeneration/operations/execute';
import { openRun } from '../../../nodes/MediaGeneration/run/open';
import { buildCall } from '../n8n';

/** Calls of a tool whose node n8n gives one context, and one list of calls, as n8n makes both. */
function newTool() {
	const kept = {};
	const calls: object[] = [];
	const note = (json: IDataObject) => calls.push({ inputOverride: { ai_tool: [[{ json }]] } });
	const call = (json: IDataObject, run: number, more: object = {}) =>
		buildCall(
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
	expect(call(first, 0).isMixedUp).toBe(false);
	// The other item counts from 0 too, and the next call of the first one meets its number.
	expect(call(second, 0).isMixedUp).toBe(true);
	expect(call(third, 1).isMixedUp).toBe(true);
});

it('a call that n8n has noted nowhere, or whose node is no tool, reads its own values', () => {
	const { note, call } = newTool();
	const input = { Prompt: 'Night' };
	expect(call(input, 0, { runExecutionData: undefined }).isMixedUp).toBe(false);
	expect(call(input, 0).isMixedUp).toBe(false);
	note({ ...input });
	expect(call(input, 0).isMixedUp).toBe(true);
	expect(call(input, 0, { isToolExecution: () => false }).isMixedUp).toBe(false);
});

it('a call that is mixed up is told so, by any operation, and of no task of another one', async () => {
	const { note, call } = newTool();
	const own = { Prompt: 'Night' };
	note(own);
	openRun(call(own, 0)).ledger.entries[0] = { attempts: [{ taskId: 'of-the-first' }] };
	const other = call({ ...own }, 0);
	expect(openRun(other).ledger.entries).toEqual([{ attempts: [] }]);
	const [[item] = []] = await executeOperation(other.context);
	expect(item?.json).toEqual({ error: expect.stringContaining("Set 'Batch Size' to 1") as string });
	expect(JSON.stringify(item)).not.toContain('of-the-first');
});
