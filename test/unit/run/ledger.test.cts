import { stringify } from 'flatted';
import sleeping from '../../../dev/fixtures/sleepingRecord.json';
import {
	adopt,
	beginLedger,
	hideResults,
	mergeEntry,
	unhideResults,
} from '../../../nodes/MediaGeneration/run/ledger/changes';
import {
	isToSend,
	listTaskIds,
	statusOf,
	type Attempt,
	type Entry,
	type Ledger,
	type EntryStatus,
} from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { readLedger } from '../../../nodes/MediaGeneration/run/ledger/openLedger';
import {
	buildWorld,
	runAndCheck,
	readNodeContext,
	readLast,
	readStored,
	SECOND,
} from '../../world/live.cts';
import type { Entry as StackEntry, Execution, RunData } from '../../world/n8n.cts';
import type { Plan, World } from '../../world/world.cts';

const UNKNOWN = { message: 'The service broke off' };
const PENDING: Attempt = { taskId: 'pending' };
const GOOD: Attempt = { taskId: 'good', end: { taskId: 'good', status: 'completed' } };
const FAILED: Attempt = {
	taskId: 'bad',
	end: { taskId: 'bad', status: 'failed', failCode: '501' },
};
const SILENT: Attempt = {
	taskId: 'mute',
	end: { taskId: 'mute', status: 'failed', failCode: '408' },
};
const report = (attempt: Attempt): Attempt => ({ ...attempt, reported: true });

it.each<[EntryStatus, string, Partial<Entry>, boolean]>([
	['new', 'nothing was sent', {}, true],
	['failed', 'it has failed', { attempts: [FAILED] }, false],
	['failed', '… and was reported', { attempts: [report(FAILED)] }, true],
	['pending', '… and was created again', { attempts: [report(FAILED), PENDING] }, false],
	['failed', '… which failed too', { attempts: [report(FAILED), FAILED] }, false],
	[
		'failed',
		'… which was reported after three tries',
		{ attempts: [FAILED, FAILED, report(FAILED)] },
		false,
	],
	['failed', 'its upstream was silent, and may charge', { attempts: [report(SILENT)] }, false],
	['unknown', 'a task may exist', { unknown: UNKNOWN }, false],
	['unknown', '… beside one that failed', { attempts: [report(FAILED)], unknown: UNKNOWN }, false],
	['pending', '… beside one that is pending', { attempts: [PENDING], unknown: UNKNOWN }, false],
	[
		'pending',
		'another process has one that failed',
		{ attempts: [PENDING, report(FAILED)] },
		false,
	],
	['completed', '… beside one that has completed', { attempts: [GOOD, PENDING] }, false],
	['failed', '… that may still end', { attempts: [SILENT, report(FAILED)] }, false],
])('an item is %s where %s', (status, _, parts, isSent) => {
	const entry: Entry = { attempts: [], ...parts };
	expect(statusOf(entry)).toBe(status);
	expect(isToSend(entry, 3)).toBe(isSent);
});

it('a retry adopts tasks, but no end save a failure, which is reported anew', () => {
	const tasks = [PENDING, GOOD, SILENT, report(FAILED)];
	expect(adopt(tasks)).toEqual([
		...[PENDING, GOOD, SILENT].map(({ taskId }) => ({ taskId, adopted: true })),
		{ ...FAILED, adopted: true },
	]);
});

it.each<[string, Partial<Entry>, Partial<Entry>]>([
	['an unknown outcome', { attempts: [FAILED] }, { attempts: [FAILED], unknown: UNKNOWN }],
	['the end of the task', { attempts: [PENDING] }, { attempts: [{ ...PENDING, end: GOOD.end }] }],
])('of two copies of an entry, the copy with %s counts', (_, before, after) => {
	const copy = (parts: Partial<Entry>): Entry => structuredClone({ attempts: [], ...parts });
	for (const [one, other] of [
		[before, after],
		[after, before],
	] as const) {
		const entry = copy(one);
		mergeEntry(entry, copy(other));
		expect(entry).toEqual(copy(after));
	}
});

it.each<[string, Partial<Entry>, Partial<Entry>, EntryStatus, boolean]>([
	['a failure', { attempts: [report(FAILED)] }, { attempts: [PENDING] }, 'pending', false],
	['a pending one', { attempts: [GOOD] }, { attempts: [PENDING] }, 'completed', false],
	['an unknown outcome', { unknown: UNKNOWN }, { attempts: [PENDING] }, 'pending', false],
	['no unknown outcome', { attempts: [report(FAILED)] }, { unknown: UNKNOWN }, 'unknown', false],
])('of two processes, a task counts before %s', (_, here, there, status, isSent) => {
	const request = { digest: 'of the task', model: 'a/b' };
	const makeEntry = (parts: Partial<Entry>): Entry => ({
		attempts: [],
		...structuredClone(parts),
		request: parts.attempts?.some(({ taskId }) => taskId !== 'bad') ? request : undefined,
	});
	const entry = makeEntry(here);
	mergeEntry(entry, makeEntry(there));
	expect([statusOf(entry), isToSend(entry, 5)]).toEqual([status, isSent]);
	expect(listTaskIds([entry]).sort()).toEqual(
		[...(here.attempts ?? []), ...(there.attempts ?? [])].map(({ taskId }) => taskId).sort(),
	);
	if (status === 'pending') expect(entry.request).toEqual(request);
});

it('n8n stores no results of a run that has ended, though its tries still find them', () => {
	const resultUrls = ['https://files.example/secret.png'];
	const entry: Entry = {
		request: { digest: 'digest', model: 'a/b', words: 'secret' },
		attempts: [structuredClone(FAILED), { taskId: 'good', end: { ...GOOD.end!, resultUrls } }],
	};
	const ledger = beginLedger({ entries: [entry] });
	hideResults(ledger);
	expect(JSON.stringify(entry)).not.toContain('secret');
	expect(JSON.parse(JSON.stringify(entry))).toMatchObject({
		request: { digest: 'digest' },
		attempts: [FAILED, { taskId: 'good' }],
	});
	expect([statusOf(entry), entry.request?.words]).toEqual(['completed', 'secret']);
	// A run that sleeps again needs its results when it is woken.
	unhideResults(ledger);
	expect(JSON.stringify(entry)).toContain('secret.png');
});

it('a request without words is hidden and stored again, however often', () => {
	const entry: Entry = { request: { digest: 'digest', model: 'a/b' }, attempts: [] };
	const ledger = beginLedger({ entries: [entry] });
	for (const work of [hideResults, unhideResults, hideResults]) work(ledger);
	expect(entry.request).toEqual({ digest: 'digest', model: 'a/b' });
	Object.assign(entry.request!, { words: 'anew' });
	expect(entry.request?.words).toBe('anew');
});

describe('a run that sleeps', () => {
	/** The fixture, with the IDs of a world: of five items, three wait for a task, in the second try. */
	const readFixture = () =>
		JSON.parse(JSON.stringify(sleeping).replaceAll(/task-\d-\d/g, '$&z')) as {
			kept: { run: Ledger };
			data: StackEntry['data'];
		};
	const IDS = ['task-0-1z', 'task-1-1z', 'task-1-2z', 'task-4-2z'];
	const ASLEEP_AGAIN = 80 * SECOND;

	/** A world of the events in the fixture: the first task ends after the limit. */
	function buildSleeping(
		whileAsleep: (execution: Execution) => void,
		more: Partial<Plan> = {},
	): World {
		const later = { after: 70 * SECOND };
		const open = { after: 40 * SECOND };
		const kill = (what: 'kill 0' | 'kill 1') => ({ when: { after: ASLEEP_AGAIN }, what });
		const world = buildWorld([later, ['failed', open], 'unknown', 'rejected', ['rejected', open]], {
			onError: 'continueRegularOutput',
			maxTries: 2,
			downloads: true,
			options: { timeoutSeconds: 60 },
			// What goes on is another process, with another version of the package.
			accidents: [kill('kill 0'), kill('kill 1')],
			...more,
		});
		const { n8n, clock } = world;
		Object.assign(n8n.credentials, { baseUrl: 'https://api.example', accessToken: 'token' });
		n8n.read = (item) => ({ item, prompt: 'Night' });
		clock.after(ASLEEP_AGAIN, () => whileAsleep(n8n.executions[0] as Execution));
		return world;
	}

	/** Changes what n8n has stored. */
	function changeStored(execution: Execution, work: (data: RunData) => void): void {
		const data = readStored(execution);
		work(data);
		execution.stored = stringify(data);
	}

	/** The moments of a run, as if its wait had begun at this one. */
	function moveTo(moment: number | undefined, { waitBeganAt, sleep }: Ledger) {
		const move = (at = NaN) => at + Number(moment) - Number(waitBeganAt);
		const { limitAt, lastWakeAt } = sleep ?? {};
		const moved = { ...sleep, limitAt: move(limitAt), lastWakeAt: move(lastWakeAt) };
		return { waitBeganAt: moment, sleep: moved };
	}

	/** Puts the fixture in the place of what n8n has stored. From then on, there are no tries. */
	const replaceStored = (execution: Execution) =>
		changeStored(execution, ({ executionData: { contextData, nodeExecutionStack } }) => {
			const { kept, data } = readFixture();
			const { waitBeganAt } = (readNodeContext(execution) as { run: Ledger }).run;
			Object.assign(kept.run, { executionId: execution.id, ...moveTo(waitBeganAt, kept.run) });
			contextData['node:Film'] = kept;
			// What tasks have cost is stored by account, which the fixture doesn't have.
			delete contextData.flow;
			const [entry] = nodeExecutionStack as [StackEntry];
			entry.data = data;
			entry.node.retryOnFail = false;
		});

	// What a later version adds is not in the fixture, so the next test goes on without the addition.
	it('is stored in the form that later versions read', async () => {
		let stored: unknown;
		await buildSleeping((execution) => {
			const { run } = readNodeContext(execution) as { run: Ledger };
			const moments = moveTo(readFixture().kept.run.waitBeganAt, run);
			const kept = { run: { ...run, executionId: '1', ...moments } };
			const [{ data }] = readStored(execution).executionData.nodeExecutionStack as [StackEntry];
			stored = { kept, data };
		}).run();
		expect(stored).toMatchObject(readFixture());
	});

	it('when the package was updated goes on: nothing is lost, and nothing is created', async () => {
		let length = 0;
		const world = buildSleeping((execution) => {
			replaceStored(execution);
			({ length } = world.service.creations);
		});
		const { execution, items } = await runAndCheck(world);
		expect(world.service.creations).toHaveLength(length);
		expect(items.map(({ json }) => json.status ?? json.error)).toEqual([
			'completed',
			'completed',
			expect.stringContaining('broke off'),
			expect.stringContaining('did not accept'),
			'completed',
		]);
		const ledger = readLedger(readNodeContext(execution)) as Ledger;
		expect(listTaskIds(ledger.entries)).toEqual(IDS);
		expect(ledger.shared.taskCount).toBe(5);
	});

	it('in a form of another version is read by nobody, who says so', async () => {
		let length = 0;
		const world = buildSleeping(
			(execution) => {
				changeStored(execution, (data) => {
					Object.assign(data.executionData.contextData['node:Film']?.run ?? {}, { version: 2 });
					// It crashes once it is woken.
					delete data.waitTill;
				});
				execution.status = 'crashed';
				({ length } = world.service.creations);
			},
			{ retries: [{ maxTries: 0 }] },
		);
		const { execution, items } = readLast(await world.run());
		expect(execution.mode).toBe('retry');
		expect(world.service.creations).toHaveLength(length);
		const message = 'Nothing was created: another version of this package';
		expect(items.map(({ json }) => json.error)).toEqual(
			Array(5).fill(expect.stringContaining(message)),
		);
		expect(() => readLedger({ run: {} })).toThrow(message);
	});
});
