import { openRecord } from '../../../nodes/MediaGeneration/run/open';
import { takeTurn, type Turns } from '../../../nodes/MediaGeneration/run/here';
import { buildContext, type Run, WAIT } from '../n8n';

const REQUEST = { model: 'model', input: {} };

/** Runs the node, with what n8n has stored for it, by default nothing. */
function open(token: string | undefined, more: Run = {}) {
	const context = buildContext({ kept: {}, ...more });
	return openRecord(Object.assign(context, { runExecutionData: { resumeToken: token } }));
}

// A slot of the concurrency limit that comes late: n8n runs the node with the data of before.
it('a run that n8n begins again with older data has its tasks, their count, and how it waits', () => {
	const first = open('token');
	first.addTask(1, REQUEST, 'task');
	first.shared.count = 2;
	first.openWait(() => WAIT);
	const again = open('token');
	expect(again.recall(0)).toBeUndefined();
	expect(again.recall(1)).toMatchObject({ taskId: 'task' });
	expect(again.shared.count).toBe(2);
	expect(again.openWait(() => ({ ...WAIT, limit: 1 }))).toEqual({ settings: WAIT });
	again.addTask(0, REQUEST, 'other');
	expect(open('token').recall(0)).toMatchObject({ taskId: 'other' });
});

it.each<[string, string | undefined, Run]>([
	['another execution', 'token of another', {}],
	['a retry, which has the token of the first', 'same', { executionId: '2' }],
	['another run of the node', 'same', { run: 1 }],
	['an n8n without tokens', undefined, {}],
	["an agent's call", 'same', { isTool: true }],
])('%s begins with nothing', (_, token, more) => {
	open('same').addTask(0, REQUEST, 'task');
	open(undefined).addTask(0, REQUEST, 'task');
	expect(open(token, more).recall(0)).toBeUndefined();
});

it('the calls of a run take turns for an item, in order, also after an error; nothing is left of it', async () => {
	const turns: Turns = new Map();
	const done: string[] = [];
	const send = async (item: number, name: string) =>
		await takeTurn(turns, item, async () => {
			await Promise.resolve();
			done.push(name);
			if (name === 'first') throw new Error('refused');
		}).catch(() => undefined);
	await Promise.all([send(0, 'first'), send(1, 'other'), send(0, 'second'), send(0, 'third')]);
	expect(done).toEqual(['first', 'other', 'second', 'third']);
	expect(turns.size).toBe(0);
});
