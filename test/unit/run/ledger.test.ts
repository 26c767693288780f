import type { IWebhookFunctions } from 'n8n-workflow';
import sleeping from '../../../dev/fixtures/sleepingRecord.json';
import { openRecord } from '../../../nodes/MediaGeneration/run/open';
import { readSleepingRun } from '../../../nodes/MediaGeneration/operations/record/sleepingRun';
import { buildContext, fake } from '../n8n';

/** What n8n stores of a run that sleeps. Every later version reads it. */
const SLEEPING = JSON.stringify(sleeping);
const store = () => ({ run: JSON.parse(SLEEPING) as typeof sleeping });

const REQUEST = { model: 'custom/any', input: { prompt: 'Night' } };
const FAILED = {
	taskId: 'failed',
	status: 'failed' as const,
	failCode: '501',
	failMessage: 'blocked',
};
const TIMED_OUT = { taskId: 'late', status: 'timedOut' as const, lookError: 'no answer' };
const SETTINGS = {
	howToWait: 'callback' as const,
	limit: 60_000,
	timeoutSeconds: 60,
	failedTasks: 'error' as const,
	perFile: false,
	downloads: { field: 'data', maxBytes: null },
};

/** Another call of the node by n8n, which may try it three times. */
function open(kept: object, executionId = '1') {
	const node = { id: 'node', name: 'Node', type: 'mediaGeneration', retryOnFail: true };
	const getWorkflowDataProxy = () => ({ $runIndex: 0, $execution: { customData: { set() {} } } });
	return openRecord(
		buildContext({ kept, executionId }, { getNode: () => node, getWorkflowDataProxy }),
	);
}

afterEach(() => jest.restoreAllMocks());

/** Reads it as a webhook does, which n8n calls while the execution sleeps. */
const readAsWebhook = (kept: object) =>
	readSleepingRun(
		fake<IWebhookFunctions>({
			getNode: () => ({ name: 'Node' }),
			runExecutionData: { executionData: { contextData: { 'node:Node': kept } } },
		}),
	);

it('a run that sleeps is stored in the form that later versions read', () => {
	jest.spyOn(Date, 'now').mockReturnValue(0);
	const kept = {};
	const first = open(kept);
	first.addTask(0, REQUEST, 'one');
	first.addTask(1, { ...REQUEST, warning: 'faktor is no field' }, 'failed');
	first.addUnknown(2, REQUEST, { message: 'The service broke off' });
	first.addTask(3, REQUEST, 'late');
	first.addFailed(1, FAILED);
	first.addFailed(3, TIMED_OUT);
	const second = open(kept);
	second.addTask(1, REQUEST, 'again');
	second.shared.count = 5;
	second.openWait(() => SETTINGS).begun = 1_000;
	second.sleep({
		until: 61_000,
		input: [[{ json: { prompt: 'Night' } }]],
		failures: { 4: { message: 'Refused', description: 'Top up', nothingCreated: true } },
	});
	expect(JSON.parse(JSON.stringify(kept))).toEqual(store());
});

it('a run that slept when the package was updated goes on: nothing is lost, and nothing is created', () => {
	const stored = store();
	const run = readAsWebhook(stored);
	expect(run?.tasks).toEqual([
		{ taskId: 'one', status: 'pending', resultUrls: [], model: REQUEST.model },
		{ taskId: 'again', status: 'pending', resultUrls: [], model: REQUEST.model },
		TIMED_OUT,
	]);
	expect(run?.settings).toEqual(SETTINGS);
	Object.assign(stored.run.wait.asleep, { woken: [] });
	const record = open(stored);
	expect(record.woken).toMatchObject({ number: 1, until: 61_000 });
	expect([0, 1, 2, 3, 4].map((item) => record.recall(item))).toMatchObject([
		{ taskId: 'one' },
		{ taskId: 'again' },
		{ error: { message: 'The service broke off' } },
		{ taskId: 'late', failed: TIMED_OUT },
		{ error: { message: 'Refused', description: 'Top up' } },
	]);
	expect([0, 1, 2, 3].map((item) => record.createsAgain(item))).toEqual([
		false,
		false,
		false,
		false,
	]);
	expect(record.listTaskIds()).toEqual(['one', 'failed', 'again', 'late']);
	expect(record.shared.count).toBe(5);
});

it('a retry from the list of what an earlier version stored has the tasks of the same requests', () => {
	const record = open(store(), '2');
	const found = [0, 1, 2, 3].map((item) => record.findSame(item, REQUEST)?.taskId);
	expect(found).toEqual(['one', 'again', undefined, 'late']);
	expect(record.listTaskIds()).toEqual(['one', 'failed', 'again', 'late']);
});

it.each([2, undefined])('a form of version %p is read by nobody, who says so', (version) => {
	const stored = store();
	Object.assign(stored.run, { version });
	const said = 'Nothing was created: another version of this package';
	expect(() => readAsWebhook(stored)).toThrow(said);
	expect(() => open(stored)).toThrow(said);
	expect(() => open(stored, '2')).toThrow(said);
});

it.each([
	['501', true],
	// Its upstream was silent, and may still charge for it.
	['408', false],
])('a try creates a task anew that failed with code %s: %p', (failCode, isAgain) => {
	const kept = {};
	const first = open(kept);
	first.addTask(0, REQUEST, 'failed');
	first.addFailed(0, { ...FAILED, failCode });
	expect(open(kept).createsAgain(0)).toBe(isAgain);
});
