import type { IDataObject, INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';
import sleeping from '../../../dev/fixtures/sleepingRecord.json';
import { enableNode } from '../../../nodes/MediaGeneration/host/sleep';
import {
	adopt,
	isToSend,
	listTaskIds,
	mergeEntry,
	readLedger,
	stateOf,
	storeOutput,
	type Attempt,
	type Entry,
	type State,
} from '../../../nodes/MediaGeneration/run/ledger';
import { fake } from '../n8n';
import { Account, NodeExecution, type Fate, type Settings } from './failingRuns.cts';

const UNKNOWN = { message: 'The service broke off' };
const OPEN: Attempt = { taskId: 'open' };
const GOOD: Attempt = { taskId: 'good', end: { taskId: 'good', status: 'completed' } };
const FAILED: Attempt = {
	taskId: 'bad',
	end: { taskId: 'bad', status: 'failed', failCode: '501' },
};
const SILENT: Attempt = {
	taskId: 'mute',
	end: { taskId: 'mute', status: 'failed', failCode: '408' },
};
const tell = (attempt: Attempt): Attempt => ({ ...attempt, told: true });

it.each<[State, string, Partial<Entry>, boolean]>([
	['new', 'nothing was sent', {}, true],
	['open', 'a task was created', { attempts: [OPEN] }, false],
	['completed', 'it has completed', { attempts: [GOOD] }, false],
	['failed', 'it has failed', { attempts: [FAILED] }, false],
	['failed', '… and n8n was told', { attempts: [tell(FAILED)] }, true],
	['open', '… and was created again', { attempts: [tell(FAILED), OPEN] }, false],
	['failed', '… which failed too', { attempts: [tell(FAILED), FAILED] }, false],
	['failed', '… as n8n was told, after two tries', { attempts: [FAILED, tell(FAILED)] }, false],
	['failed', 'its upstream was silent, and may charge', { attempts: [tell(SILENT)] }, false],
	['unknown', 'a task may exist', { unknown: UNKNOWN }, false],
	['unknown', '… beside one that failed', { attempts: [tell(FAILED)], unknown: UNKNOWN }, false],
])('an item is %s where %s', (state, _, known, sends) => {
	const entry: Entry = { attempts: [], ...known };
	expect(stateOf(entry)).toBe(state);
	expect(isToSend(entry, 2)).toBe(sends);
});

it('a retry takes tasks over, but no end save a failure, of which n8n is told anew', () => {
	const tasks = [OPEN, GOOD, SILENT, tell(FAILED)];
	expect(adopt(tasks)).toEqual([
		...[OPEN, GOOD, SILENT].map(({ taskId }) => ({ taskId, elsewhere: true })),
		{ ...FAILED, elsewhere: true },
	]);
});

it.each<[string, Partial<Entry>, Partial<Entry>]>([
	['a task', {}, { attempts: [OPEN] }],
	['a further task', { attempts: [tell(FAILED)] }, { attempts: [tell(FAILED), OPEN] }],
	['an unknown outcome', { attempts: [FAILED] }, { attempts: [FAILED], unknown: UNKNOWN }],
	['the end of the task', { attempts: [OPEN] }, { attempts: [{ ...OPEN, end: GOOD.end }] }],
])('of two copies of an entry, the one that knows %s counts', (_, before, after) => {
	const copy = (known: Partial<Entry>): Entry => structuredClone({ attempts: [], ...known });
	for (const [one, other] of [
		[before, after],
		[after, before],
	] as const) {
		const entry = copy(one);
		mergeEntry(entry, copy(other));
		expect(entry).toEqual(copy(after));
	}
});

it('merging entries of two processes loses no ID', () => {
	const entry: Entry = { attempts: [{ taskId: 'a' }] };
	mergeEntry(entry, { attempts: [{ taskId: 'b' }, { taskId: 'c' }] });
	expect(listTaskIds([entry]).sort()).toEqual(['a', 'b', 'c']);
});

it('a task that n8n has stored takes the place of an unknown outcome of another process', () => {
	const entry: Entry = { attempts: [], unknown: { message: 'reset' } };
	mergeEntry(entry, { attempts: [{ taskId: 'b' }] });
	expect([stateOf(entry), listTaskIds([entry])]).toEqual(['open', ['b']]);
});

it('what n8n stores has no output of a run that has ended, which its tries still find', () => {
	const resultUrls = ['https://files.example/secret.png'];
	const entry: Entry = {
		request: { digest: 'digest', model: 'a/b', words: 'secret' },
		attempts: [structuredClone(FAILED), { taskId: 'good', end: { ...GOOD.end!, resultUrls } }],
	};
	storeOutput(entry, false);
	expect(JSON.stringify(entry)).not.toContain('secret');
	expect(JSON.parse(JSON.stringify(entry))).toMatchObject({
		request: { digest: 'digest' },
		attempts: [FAILED, { taskId: 'good' }],
	});
	expect([stateOf(entry), entry.request?.words]).toEqual(['completed', 'secret']);
	// One that sleeps again is woken by what is stored.
	storeOutput(entry, true);
	expect(JSON.stringify(entry)).toContain('secret.png');
});

describe('a run that sleeps', () => {
	/** Those of `dev/fixtures`: four wait for their task, in the second try. */
	const items: Fate[][] = [
		['endless'],
		['failed', 'endless'],
		['unknown'],
		['refused'],
		['refused', 'endless'],
	];
	const settings: Settings = {
		items,
		sleeps: true,
		maxTries: 2,
		onError: 'continueRegularOutput',
		read: (item) => ({ item, prompt: 'Night' }),
	};
	const IDS = ['task-0-1', 'task-1-1', 'task-1-2', 'task-4-2'];
	const store = () => structuredClone(sleeping) as unknown as Stored;

	interface Stored {
		kept: NodeExecution['kept'] & IDataObject;
		data: { main: INodeExecutionData[][] };
	}

	/** The execution of the fixture; its tasks have ended meanwhile. */
	function goOn(kept: object, more: Partial<Settings> = {}) {
		const account = Object.assign(new Account(items), { token: 'token' });
		for (const taskId of IDS) account.fates.set(taskId, taskId === 'task-1-1' ? 'failed' : 'good');
		const execution = new NodeExecution(account, { ...settings, ...more }, kept);
		return { account, execution };
	}

	it('is stored in the form that later versions read', async () => {
		const account = Object.assign(new Account(items), { token: 'token' });
		const execution = Object.assign(new NodeExecution(account, settings), { id: '1' });
		await execution.run();
		expect((await execution.wake()).sleeps).toBe(true);
		const { begun } = store().kept.run ?? {};
		const { run } = execution.kept;
		const stored = { kept: { run: { ...run, begun } }, data: execution.data };
		expect(JSON.parse(JSON.stringify(stored))).toEqual(store());
	});

	it('when the package was updated goes on: nothing is lost, and nothing is created', async () => {
		const { kept, data } = store();
		const node = { disabled: true };
		const webhook = fake<IWebhookFunctions>({
			runExecutionData: { executionData: { nodeExecutionStack: [{ node, data }] } },
		});
		expect(enableNode(webhook)).toEqual([items.map((_, item) => ({ json: { item } }))]);
		const { account, execution } = goOn(kept, { maxTries: 0 });
		Object.assign(execution, { id: '1' });
		const came = await execution.wake();
		expect(account.sent).toEqual([]);
		expect(came.output.map(({ json }) => json.status ?? json.error)).toEqual([
			// n8n was given its end already.
			'timedOut',
			'completed',
			expect.stringContaining('broke off'),
			expect.stringContaining('did not accept'),
			'completed',
		]);
		expect(listTaskIds(execution.ledger.entries)).toEqual(IDS);
		expect(execution.ledger.shared.count).toBe(5);
	});

	it('and is stopped then has its tasks in a retry from the list', async () => {
		const { account, execution } = goOn(store().kept, { maxTries: 0 });
		const came = await execution.run();
		expect(account.sent.map(({ item }) => item)).toEqual([2, 3]);
		expect(came.output.map(({ json }) => json.taskId)).toEqual([
			...['task-0-1', 'task-1-2'],
			...[undefined, undefined],
			'task-4-2',
		]);
		expect(came.output[0]?.json.status).toBe('completed');
	});

	it.each([2, undefined])(
		'in a form of version %p is read by nobody, who says so',
		async (version) => {
			const stored = () => ({ run: { ...store().kept.run, version } });
			const said = 'Nothing was created: another version of this package';
			expect(() => readLedger(stored() as unknown as IDataObject)).toThrow(said);
			for (const id of ['1', '2'])
				for (const onError of ['stopWorkflow', 'continueRegularOutput'] as const) {
					const { account, execution } = goOn(stored(), { onError });
					const { error, output } = await Object.assign(execution, { id }).run();
					const errors =
						onError === 'stopWorkflow' ? [error?.message] : output.map(({ json }) => json.error);
					expect(errors).toEqual(
						Array(onError === 'stopWorkflow' ? 1 : 5).fill(expect.stringContaining(said)),
					);
					expect(account.sent).toEqual([]);
				}
		},
	);
});
