import type { TaskService } from '../../../nodes/MediaGeneration/api/client';
import type { Task } from '../../../nodes/MediaGeneration/api/task';
import { pause } from '../../../nodes/MediaGeneration/lib/timers';
import type { Attempt, Entry } from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { Looks } from '../../../nodes/MediaGeneration/run/looks';
import { fail } from '../fail';
import { fake } from '../n8n';

const IDS = ['one', 'two', 'three'];
const completed = (taskId: string): Task => ({ taskId, status: 'completed' });
const pending = (taskId: string): Task => ({ taskId, status: 'pending' });

type Answer = (taskId: string) => Task | Promise<Task>;

/** Looks at the tasks of these entries, by default of three; by default the second one goes on. */
function build({
	answer = ((taskId) => (taskId === 'two' ? pending : completed)(taskId)) as Answer,
	entries = IDS.map((taskId): Entry => ({ attempts: [{ taskId }] })),
} = {}) {
	const asked: string[] = [];
	const service = fake<TaskService>({
		async getTask(taskId: string) {
			asked.push(taskId);
			return await answer(taskId);
		},
	});
	const looks = new Looks(entries, { timeoutSeconds: 1 });
	const look = async (more: object = {}, taskIds = IDS) =>
		await looks.look(taskIds, { getService: async () => service, ...more });
	const ends = () => entries.map(({ attempts }) => attempts.at(-1)?.end?.status);
	return { looks, look, asked, entries, ends };
}

const ONE_BY_ONE = { concurrency: 1 };

it.each<[string, object, string[], string[]]>([
	['at all', {}, IDS, ['two']],
	['until one goes on', { ...ONE_BY_ONE, untilOpen: true }, ['one', 'two'], ['two', 'three']],
	[
		'at no more once it is aborted',
		{ ...ONE_BY_ONE, signal: AbortSignal.abort() },
		['one'],
		['two', 'three'],
	],
])('it looks %s', async (_, options, expected, open) => {
	const { asked, look, looks } = build();
	await look(options);
	expect(asked).toEqual(expected);
	expect(looks.openKeys).toEqual(open);
});

it('an end is noted at each entry of its task, and what goes on only by this call', async () => {
	const { look, looks, ends, entries } = build({
		entries: ['one', 'two', 'one'].map((taskId) => ({ attempts: [{ taskId }] })),
	});
	await look();
	expect(ends()).toEqual(['completed', undefined, 'completed']);
	expect(entries[1]).toEqual({ attempts: [{ taskId: 'two' }] });
	expect(looks.find('two').said).toEqual(pending('two'));
});

it('looks at the task of an entry that counts, at none of unknown outcome, and at none of other runs', async () => {
	const failed: Attempt = { taskId: 'old', end: { taskId: 'old', status: 'failed' }, told: true };
	const unknown = { message: 'no answer' };
	const entries: Entry[] = [
		{ attempts: [failed, { taskId: 'one' }] },
		{ attempts: [failed], unknown },
		{ attempts: [] },
	];
	const { look, looks, asked } = build({ entries });
	expect(looks.keys).toEqual(['one']);
	// Meanwhile another call of the run creates a further one.
	entries[0]?.attempts.push({ taskId: 'later' });
	await look({}, ['one', 'two', 'old', 'later']);
	expect(asked).toEqual(['one']);
	expect(looks.attemptOf(entries[0] as Entry)).toMatchObject({ taskId: 'one', end: {} });
	expect(looks.attemptOf(entries[1] as Entry)).toBeUndefined();
});

it('looks at both tasks of an entry that two processes have created, until the better one counts', async () => {
	const attempts: Attempt[] = [{ taskId: 'one' }, { taskId: 'two' }];
	const entry: Entry = { attempts };
	let fails = false;
	const { look, looks, asked } = build({
		entries: [entry],
		answer: (taskId) =>
			taskId === 'two' && fails ? { taskId, status: 'failed' } : pending(taskId),
	});
	await look({}, looks.keys);
	expect([asked, looks.keyOf(entry)]).toEqual([['one', 'two'], 'two']);
	fails = true;
	await look({}, looks.keys);
	expect([looks.keyOf(entry), looks.openKeys]).toEqual(['one', ['one']]);
});

it('asks again for a task that has not ended, and says why the last look failed, until one does not', async () => {
	let fails = true;
	const { look, looks, asked } = build({
		answer: (taskId) => {
			if (taskId === 'two' && fails) throw new Error('no answer');
			return completed(taskId);
		},
	});
	await look();
	expect(looks.failure?.message).toBe('no answer');
	expect(looks.find('two').failure).toBe(looks.failure);
	fails = false;
	await look();
	expect([looks.haveEnded, looks.failure]).toEqual([true, undefined]);
	expect(asked).toEqual([...IDS, 'two']);
});

it('a task has not failed because the service said, however often, that its upstream is silent', async () => {
	const silent = fail('fault', { code: 408, answeredBy: 'service' }, 'nothing came');
	const { look, looks, ends } = build({ answer: async () => await Promise.reject(silent) });
	for (let count = 0; count < 3; count++) await look({}, ['one']);
	expect(looks.find('one').failure).toBe(silent);
	expect(ends()[0]).toBeUndefined();
});

it.each<[string, (taskId: string) => Task]>([
	['that it goes on', pending],
	['another end', (taskId) => ({ taskId, status: 'failed' })],
	[
		'nothing',
		() => {
			throw new Error('gone');
		},
	],
])('the first end is kept, also where an answer that comes late says %s', async (_, later) => {
	const answers: Array<(task: Task | Promise<Task>) => void> = [];
	const answer = async () => await new Promise<Task>((resolve) => void answers.push(resolve));
	const { look, asked, looks, ends } = build({ answer });
	const both = [look({}, ['one']), look({}, ['one'])];
	await pause(0);
	expect(asked).toEqual(['one', 'one']);
	answers[1]?.(completed('one'));
	await both[1];
	const late = Promise.resolve('one').then(later);
	answers[0]?.(late);
	await both[0];
	expect([ends()[0], looks.isOpen('one'), looks.find('one').failure]).toEqual([
		...['completed', false, undefined],
	]);
});

it('an ID may be a name that every object has', () => {
	const { looks } = build({ entries: [{ attempts: [{ taskId: 'constructor' }] }] });
	expect(looks.openKeys).toEqual(['constructor']);
});
