import { noteUnknown } from '../../../nodes/MediaGeneration/run/ledger/note';
import { findUnknownCall } from '../../../nodes/MediaGeneration/run/ledger/here';
import { prepare, type Run } from '../n8n';
import { open } from './sending';

/** A call by an agent of n8n's Agents. */
const AGENT: Run = { kept: null, executionId: '', type: 'nodeTool' };
const UNKNOWN = { message: 'The service broke off', taskId: 'named' };

describe('a call by an agent', () => {
	const asked = { prompt: 'A cat', size: { width: 1, height: 2 } };
	it.each<[string, Run, Run, object | undefined]>([
		['is refused in a tool', { isTool: true }, {}, UNKNOWN],
		['is refused in a tool of the newest agent', { type: 'nodeTool' }, {}, UNKNOWN],
		["is refused in n8n's Agents", AGENT, {}, UNKNOWN],
		['is let in for something else', { isTool: true }, { input: [{ prompt: 'A dog' }] }, undefined],
		['is let in after another execution', { isTool: true }, { executionId: '2' }, undefined],
		['is let in for another set-up', AGENT, { parameters: { prompt: 'x' } }, undefined],
		['is no call in a node', {}, {}, undefined],
	])('that asks again for an unknown outcome %s', (_, kind, again, found) => {
		const kept = {};
		const call = (run: number, more: Run = {}) =>
			open(1, { kept, input: [{ ...asked, toolCallId: run }], ...kind, run, ...more });
		const first = call(0);
		noteUnknown(first, prepare(first.call.context, 0), UNKNOWN);
		const second = call(1, again);
		expect(findUnknownCall(second.call, second.ledger.shared, 0)).toEqual(found);
	});
});
