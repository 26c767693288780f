import type { IDataObject } from 'n8n-workflow';
import { resumeExecution } from '../../../../nodes/MediaGeneration/operations/wait/resume';
import { buildDetails, sendCallback, type Callback } from '../../webhook.ts';
import { buildFileHelpers } from '../results/files.cts';

jest.mock('../../../../nodes/MediaGeneration/lib/timers', () => ({
	...jest.requireActual<object>('../../../../nodes/MediaGeneration/lib/timers'),
	runAfter: (milliseconds: number, run: () => void) => setTimeout(run, milliseconds),
}));

const SECOND = 1_000;
const LIMIT = 60 * SECOND;
const pass = jest.advanceTimersByTimeAsync;
const wait = async (milliseconds: number) =>
	await new Promise((resolve) => setTimeout(resolve, milliseconds));

beforeEach(() => {
	jest.useFakeTimers({ now: 1e12 });
	// Looks of our own reach nobody.
	jest.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('fetch failed'));
});
afterEach(() => {
	jest.restoreAllMocks();
	jest.useRealTimers();
});

let executions = 0;

/** An execution that sleeps for two tasks beside other items, by default for a minute. */
function park({ others = [] as IDataObject[], downloads = undefined as object | undefined } = {}) {
	const id = executions++;
	const [one, two] = [`${id}-one`, `${id}-two`];
	const parked = [one, two].map((taskId): IDataObject => ({ taskId, status: 'timedOut' }));
	const items = [...parked, ...others].map((json, item) => ({ json, pairedItem: { item } }));
	const settings = { limit: LIMIT, timeoutSeconds: 600, downloads };
	const resumeUrl = 'https://n8n.example/webhook-waiting/7';
	const stored = { items, entry: { parkedUntil: Date.now() + LIMIT, settings, resumeUrl } };
	const ended = new Set<string>();
	const asked: string[] = [];
	/** How long the service, and a host of files, take to answer; and whether the service does. */
	const world = { details: 0, files: 0, isDown: false };
	const { helpers } = buildFileHelpers(async () => {
		await wait(world.files);
		return { chunks: [Buffer.from('file')] };
	});
	async function readDetails(taskId: string) {
		asked.push(taskId);
		if (world.details) await wait(world.details);
		if (world.isDown) throw new Error('no answer');
		const resultJson = { resultUrls: [`https://files.example/${taskId}`] };
		return buildDetails(taskId, ended.has(taskId) ? 'success' : 'generating', { resultJson });
	}
	const send = async (taskId: string, more: Partial<Callback> = {}) =>
		await sendCallback(resumeExecution, {
			taskId,
			readDetails,
			helpers,
			...more,
			more: {
				getNode: () => ({ id: `node-${id}`, name: 'Node', type: 'mediaGeneration' }),
				getExecutionId: () => `${id}`,
				getQueryData: () => ({ signature: 'resume-token' }),
				evaluateExpression: () => stored,
				...more.more,
			},
		});
	return { one, two, ended, asked, world, stored, send };
}

type Parked = ReturnType<typeof park>;
type Act = (parked: Parked) => void | Promise<unknown>;

const endBoth: Act = ({ ended, one, two }) => void ended.add(one).add(two);
const endOne: Act = ({ ended, one }) => void ended.add(one);
const breakDown: Act = ({ world }) => void (world.isDown = true);
const endWithCallback: Act = async (parked) => {
	await endBoth(parked);
	await parked.send(parked.one);
};
const progress = { data: { callbackType: 'text' } };
const look = { data: { callbackType: 'look' } };
const unreadable = {
	more: { getCredentials: async () => await Promise.reject(new Error('no database')) },
};
const refusal = (reason: string) => ({ accepted: false, reason });

it.each<[string, Act, Partial<Callback>, number, string]>([
	['progress', endBoth, progress, 200, ''],
	['a wrong signature', endBoth, { secret: 'wrong' }, 401, 'signatureWrong'],
	['a task of another wait', endBoth, { taskId: 'other' }, 404, 'taskNotInExecution'],
	['a task that goes on', () => {}, {}, 503, 'taskNotEnded'],
	['a look at a task that goes on', () => {}, look, 200, ''],
	['a task before the other one', endOne, {}, 200, ''],
	['a service that is down', breakDown, {}, 503, 'detailsUnavailable'],
	['a look at a service that is down', breakDown, look, 200, ''],
	['a credential that is unreadable', endBoth, unreadable, 503, 'detailsUnavailable'],
	['a time too late', async () => await pass(LIMIT + 28 * SECOND), {}, 410, 'limitPassed'],
	['a copy while n8n stores the items', endWithCallback, {}, 200, ''],
])('a callback with %s does not resume', async (_, prepare, more, status, reason) => {
	const parked = park();
	await prepare(parked);
	const result = await parked.send(parked.one, more);
	const answer = reason ? refusal(reason) : { accepted: true, resumed: false };
	expect(result).toMatchObject({ status, answer, output: undefined });
});

it('the last callback resumes with a task for each item, and other items as they were', async () => {
	const others = [{ error: 'refused' }, { taskId: 'before', status: 'failed' }, { taskId: 'x' }];
	const parked = park({ others });
	await endBoth(parked);
	const { output, store } = await parked.send(parked.two);
	const completed = [parked.one, parked.two].map((taskId) => ({ taskId, status: 'completed' }));
	const expected = [...completed, ...others].map((json, item) => ({ json, pairedItem: { item } }));
	expect(output).toMatchObject(expected);
	expect(output?.slice(2)).toEqual(expected.slice(2));
	expect(parked.asked).toEqual([parked.two, parked.one]);
	expect(store()).toEqual({ accepted: true, resumed: true });
	// A copy that n8n let through before it stored them does not hand them over again.
	expect((await parked.send(parked.two)).output).toBeUndefined();
});

it('at the limit it resumes with what is known', async () => {
	const parked = park();
	await parked.send(parked.one);
	await endOne(parked);
	await pass(LIMIT - SECOND);
	const { output } = await parked.send(parked.two, look);
	expect(output?.map(({ json }) => json.status)).toEqual(['completed', 'timedOut']);
});

it('resumes by a later callback where n8n has not stored the items', async () => {
	const parked = park();
	await endBoth(parked);
	expect((await parked.send(parked.one)).output).toHaveLength(2);
	await pass(3 * SECOND);
	expect((await parked.send(parked.one)).output).toHaveLength(2);
});

it('resumes nothing where another process has, and the execution waits again', async () => {
	const parked = park();
	await parked.send(parked.one);
	await endBoth(parked);
	parked.stored.entry.parkedUntil++;
	expect(await parked.send(parked.one)).toMatchObject({ status: 404, output: undefined });
});

const downloads = { field: 'data', maxBytes: null };
const FILES = ['data', 'data'];
const NO_FILES = ['', ''];

it.each<[string, object, Partial<Parked['world']>, number, string, string[] | undefined]>([
	['files', { downloads }, { files: 9 * SECOND }, 10, 'resultsUnderWay', FILES],
	['files past the limit', { downloads }, { files: 200 * SECOND }, 90, 'resultsUnderWay', NO_FILES],
	['details', {}, { details: 6 * SECOND }, 20, 'detailsUnavailable', NO_FILES],
	['details after the limit', {}, { details: 90 * SECOND }, 200, 'detailsUnavailable', undefined],
])(
	'no sender waits for %s, and n8n gets what there is',
	async (_, settings, slow, seconds, reason, fields) => {
		const parked = park(settings);
		await endBoth(parked);
		Object.assign(parked.world, slow);
		const sent = parked.send(parked.one);
		await pass(seconds * SECOND);
		const { status, answer, output } = await sent;
		expect({ status, answer }).toMatchObject({ status: 503, answer: refusal(reason) });
		expect(output?.map(({ binary = {} }) => Object.keys(binary).join())).toEqual(fields);
	},
);

it('asks for many tasks at once only if the next one has ended', async () => {
	const ids = Array.from({ length: 100 }, (_, index) => `many-${index}`);
	const parked = park({ others: ids.map((taskId) => ({ taskId, status: 'timedOut' })) });
	parked.ended.add('many-99');
	await parked.send('many-99');
	expect(parked.asked).toEqual(['many-99', parked.one]);
	for (const taskId of [parked.one, parked.two, ...ids]) parked.ended.add(taskId);
	expect((await parked.send('many-5')).output).toHaveLength(102);
});
