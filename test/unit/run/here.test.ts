import { leaveRun, takeTurn, type Turns } from '../../../nodes/MediaGeneration/run/ledger/here';
import { listTaskIds, type Ledger } from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { noteTask } from '../../../nodes/MediaGeneration/run/ledger/note';
import { openSettings } from '../../../nodes/MediaGeneration/run/open';
import { prepare, WAIT } from '../n8n';
import { open } from './sending';

type Opening = Parameters<typeof open>[1];

/** Runs the node with two items, with what n8n has stored for it, by default nothing. */
const begin = (token: string | undefined, { more, ...opening }: Opening = {}, count = 2) =>
	open(count, { ...opening, more: { ...more, runExecutionData: { resumeToken: token } } });

const note = (run: ReturnType<typeof open>, item: number, taskId: string) =>
	noteTask(run, prepare(run.call.context, item), taskId);
const listIds = ({ ledger }: ReturnType<typeof open>) => listTaskIds(ledger.entries);

const leave = ({ call, ledger }: ReturnType<typeof open>) => leaveRun(call, ledger);

const doubt = (inARow: number) => ({ inARow, perhapsRefused: 0 });

afterEach(() => jest.restoreAllMocks());

// A slot of the concurrency limit that comes late: n8n runs the node with the data of before.
it('a run that n8n begins again with older data has its tasks, their count, and how it waits', () => {
	const first = begin('older');
	note(first, 1, 'task');
	first.ledger.shared.count = 2;
	openSettings(first, () => WAIT);
	first.ledger.doubts = { account: doubt(2) };
	const again = begin('older');
	expect(listIds(again)).toEqual(['task']);
	expect(again.ledger.doubts).toBe(first.ledger.doubts);
	expect(again.ledger).toMatchObject({ shared: { count: 2 }, settings: WAIT });
	note(again, 0, 'other');
	expect(listIds(begin('older'))).toEqual(['other', 'task']);
});

it('two calls of a run share their entries and their count, each with what n8n has stored', () => {
	const kept: { run?: Ledger } = {};
	const first = begin('shared', { kept });
	note(first, 0, 'first');
	const copy = structuredClone(kept);
	note(first, 1, 'later');
	first.ledger.shared.count = 2;
	// Each sleeps by itself: n8n may store the one last that slept first.
	first.ledger.sleeps = 2;
	const second = begin('shared', { kept: copy });
	expect(listIds(second)).toEqual(['first', 'later']);
	expect(second.ledger.sleeps).toBe(0);
	note(second, 0, 'again');
	second.ledger.shared.count++;
	expect(listIds(first)).toEqual(['first', 'again', 'later']);
	expect(first.ledger.shared.count).toBe(3);
});

it('what another process has stored of a run is added to what is known here', () => {
	const kept: { run?: Ledger } = {};
	const first = begin('elsewhere', { kept });
	note(first, 0, 'here');
	const copy = structuredClone(kept);
	copy.run?.entries[1]?.attempts.push({ taskId: 'there' });
	const stored = { poor: doubt(2), rich: doubt(0) };
	Object.assign(copy.run ?? {}, { shared: { count: 5, unknownCalls: {} }, doubts: stored });
	Object.assign(first.ledger, { doubts: { rich: doubt(1) } });
	const second = begin('elsewhere', { kept: copy });
	for (const { ledger } of [first, second]) {
		expect(listTaskIds(ledger.entries)).toEqual(['here', 'there']);
		expect(ledger.shared.count).toBe(5);
		expect(ledger.doubts).toEqual({ poor: doubt(2), rich: doubt(1) });
	}
	expect(second.ledger.doubts).toBe(first.ledger.doubts);
});

describe('of a run that is over, this process keeps', () => {
	const ends = (run: ReturnType<typeof open>) =>
		run.ledger.entries.map(({ attempts }) => attempts.at(-1)?.end);
	const finish = ({ ledger }: ReturnType<typeof open>) => {
		const completed = { taskId: 'good', status: 'completed', result: 'a long text' } as const;
		const failed = { taskId: 'bad', status: 'failed', failCode: '501', result: 'why' } as const;
		const [good, bad] = ledger.entries.map(({ attempts }) => attempts.at(-1));
		Object.assign(good ?? {}, { end: completed });
		Object.assign(bad ?? {}, { end: failed, told: true });
	};

	it('what decides a payment, and neither results nor words', () => {
		const first = begin('over');
		note(first, 0, 'good');
		note(first, 1, 'bad');
		finish(first);
		leave(first);
		const again = begin('over');
		const account: unknown = expect.any(String);
		const asked: unknown = expect.objectContaining({ digest: expect.any(String) as string });
		expect(JSON.parse(JSON.stringify(again.ledger.entries))).toEqual([
			{ account, request: asked, attempts: [{ taskId: 'good' }] },
			{
				account,
				request: asked,
				attempts: [
					{ taskId: 'bad', told: true, end: { taskId: 'bad', status: 'failed', failCode: '501' } },
				],
			},
		]);
		expect(JSON.stringify(again.ledger.entries)).not.toContain('prompt');
	});

	it('all, while another call of it is under way', () => {
		const first = begin('both');
		const second = begin('both');
		note(first, 0, 'good');
		note(first, 1, 'bad');
		leave(first);
		finish(second);
		leave(first);
		expect(ends(begin('both'))).toMatchObject([{ result: 'a long text' }, { result: 'why' }]);
	});

	it('nothing that a try lacks, which has it from n8n', () => {
		const kept: { run?: Ledger } = {};
		const first = begin('try', { kept });
		note(first, 0, 'good');
		note(first, 1, 'bad');
		finish(first);
		leave(first);
		const again = begin('try', { kept });
		expect(ends(again)).toMatchObject([{ result: 'a long text' }, { result: 'why' }]);
		expect(again.ledger.entries[0]?.request?.words).toBe('prompt-0');
	});
});

it.each<[string, string | undefined, Opening]>([
	['another execution', 'token of another', {}],
	['a retry, which has the token of the first', 'same', { executionId: '2' }],
	['another run of the node', 'same', { run: 1 }],
	['an n8n without tokens', undefined, {}],
	["an agent's call", 'same', { isTool: true }],
])('%s begins with nothing', (_, token, opening) => {
	note(begin('same'), 0, 'task');
	note(begin(undefined), 0, 'task');
	expect(listIds(begin(token, opening))).toEqual([]);
});

it('of more than 20,000 items, the runs that began first are forgotten', () => {
	/** Begins a run, and ends it. @returns the tasks that it knew */
	const pass = (token: string, count: number, taskId?: string) => {
		const run = begin(token, {}, count);
		const known = listIds(run);
		if (taskId) note(run, 0, taskId);
		leave(run);
		return known;
	};
	pass('first', 12_000, 'task');
	pass('second', 6_000);
	expect(pass('first', 12_000)).toEqual(['task']);
	pass('third', 6_000);
	expect(pass('first', 12_000)).toEqual(['task']);
	pass('fourth', 6_000);
	pass('fifth', 12_000);
	pass('any other', 1);
	expect(listIds(begin('first', {}, 12_000))).toEqual([]);
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
