import { sleep, type IDataObject, type IHookFunctions } from 'n8n-workflow';
import { hmac } from '../../dev/fixtures/callbackCases.cts';
import { forgetEvents, receiveCallback } from '../../nodes/MediaGeneration/trigger/receive';
import { buildDetails, sendCallback, type Callback, type ReadDetails } from './webhook';

let triggers = 0;

/** A trigger whose service answers as the test says. */
function newTrigger(parameters: IDataObject = {}, details: ReadDetails = completed) {
	const id = `receive-${triggers++}`;
	const asked: string[] = [];
	const logged: string[] = [];
	const staticData: IDataObject = {};
	const log = (line: string) => logged.push(line);
	const context = {
		getNode: () => ({ id, name: 'Trigger' }),
		getWorkflow: () => ({ id: 'workflow' }),
		getWorkflowStaticData: () => staticData,
		getNodeParameter: (name: string, fallback: unknown) =>
			({ events: ['taskCompleted'], ...parameters })[name] ?? fallback,
		logger: { info: log, warn: () => {}, error: log },
	};
	const begin = async (taskId: string, { more, ...callback }: Partial<Callback> = {}) =>
		await sendCallback(receiveCallback, {
			taskId,
			readDetails: async (task) => {
				asked.push(task);
				return await details(task);
			},
			...callback,
			more: { ...context, ...more },
		});
	return {
		asked,
		logged,
		/** Changes what the service answers. */
		setDetails: (read: ReadDetails) => (details = read),
		forget: () => forgetEvents(context as unknown as IHookFunctions),
		begin,
		/** Sends a callback, and lets the time for its answer pass. */
		async send(...callback: Parameters<typeof begin>) {
			const begun = begin(...callback);
			await jest.advanceTimersByTimeAsync(4_500);
			return await begun;
		},
	};
}

const inState = (state: string) => async (taskId: string) => buildDetails(taskId, state);
const completed = inState('success');
const answered = (code: number) => async () => ({
	statusCode: code,
	body: JSON.stringify({ code }),
});
const down = answered(500);
const inText = (statusCode: number) => async () => ({ statusCode, body: '<!DOCTYPE html>' });
const both = ['taskCompleted', 'taskFailed'];
/** The request in a record names this Callback URL. */
const createdFor = (callBackUrl: string) => async (taskId: string) =>
	buildDetails(taskId, 'success', { param: JSON.stringify({ model: 'any', callBackUrl }) });

/** The answer is the whole one: a sender learns no more of a copy. */
const duplicate = expect.objectContaining({
	status: 200,
	answer: { accepted: true, emitted: false, reason: 'duplicate' },
}) as object;
const later = { status: 503, answer: { reason: 'detailsUnavailable' }, output: undefined };
const claimed = {
	output: [{ json: { taskId: 'task', verification: { details: 'unavailable' } } }],
};

/** Signed headers of this second. */
function signNow() {
	const timestamp = String(Math.floor(Date.now() / 1000));
	const signature = hmac('task', timestamp, 'a-key').toString('base64');
	return { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': signature };
}

let services = 0;

/** The context of a service of its own. Nothing is known of it yet. */
function newService(paths = {}) {
	const baseUrl = `https://new-${services++}.example.com`;
	return { getCredentials: async () => ({ baseUrl, webhookSecret: 'a-key', ...paths }) };
}

beforeEach(async () => {
	jest.useFakeTimers();
	// The details path has given a task.
	await newTrigger().send('before');
});
afterEach(() => void jest.useRealTimers());

describe('a callback that the trigger refuses', () => {
	const fails = { data: { state: 'fail' } };
	it.each<[string, number, string, Partial<Callback>, ReadDetails]>([
		['has no signature', 401, 'headerMissing', { headers: {} }, completed],
		['has the signature of another key', 401, 'signatureWrong', { secret: 'wrong' }, completed],
		['meets a blank key', 401, 'keyMissing', { webhookSecret: ' ', secret: ' ' }, completed],
		['names a task that goes on by its details', 503, 'taskNotEnded', {}, inState('generating')],
		['names a task that is unknown to the service', 404, 'taskUnknown', {}, answered(404)],
		['claims an unwanted event while the service is down', 503, 'detailsUnavailable', fails, down],
	])('%s', async (_, status, reason, callback, details) => {
		const { asked, send } = newTrigger({}, details);
		expect(await send('task', { data: { state: 'success' }, ...callback })).toMatchObject({
			status,
			answer: { accepted: false, reason },
			output: undefined,
		});
		expect(asked).toEqual(status === 401 ? [] : ['task']);
	});

	it("comes while the credential can't be read: n8n must not start an execution", async () => {
		const { logged, send } = newTrigger();
		const more = { getCredentials: async () => await Promise.reject(new Error('no database')) };
		expect(await send('task', { more })).toMatchObject({
			status: 503,
			answer: { accepted: false, reason: 'temporarilyUnavailable' },
			output: undefined,
		});
		expect(logged).toEqual(['A callback could not be processed: no database']);
		expect(await send('task', { more, headers: {} })).toMatchObject({ status: 401 });
		expect(logged).toHaveLength(1);
	});
});

describe('a callback that the trigger accepts', () => {
	it('starts an execution with the task, the callback and how both were checked', async () => {
		const { send } = newTrigger();
		const { output, store } = await send('task', { data: { more: 1 } });
		const task = { taskId: 'task', status: 'completed', state: 'success', resultUrls: [] };
		const callback = { data: { task_id: 'task', more: 1 } };
		const verification = { signature: 'current', details: 'fetched' };
		expect(output).toStrictEqual([{ json: { ...task, callback, verification } }]);
		expect(store()).toEqual({ accepted: true, emitted: true });
	});

	const unfetched = { events: both, options: { fetchDetails: false } };
	const wantsBoth = { events: both };
	it.each<[string, IDataObject, ReadDetails, string | undefined, string]>([
		['the details, not its body, decide', {}, completed, 'completed', 'fetched'],
		['its claim says what an unknown state means', wantsBoth, inState('odd'), 'failed', 'fetched'],
		['its claim counts without details', wantsBoth, inText(404), undefined, 'unavailable'],
		['its claim counts when Fetch Details is off', unfetched, completed, 'failed', 'off'],
	])('%s', async (_, parameters, read, status, details) => {
		const { send } = newTrigger(parameters, read);
		const { output } = await send('task', { data: { state: 'fail' } });
		const verification = { signature: 'current', details };
		expect(output).toMatchObject([{ json: { taskId: 'task', verification } }]);
		expect(output?.[0]?.json.status).toBe(status);
	});

	it('a failure without a record is a fact, whatever its body claims', async () => {
		const { send } = newTrigger(wantsBoth, answered(501));
		const { output } = await send('task', { data: { state: 'success' } });
		const verification = { signature: 'current', details: 'fetched' };
		expect(output).toMatchObject([{ json: { status: 'failed', verification } }]);
	});

	it('without a signature, its claim does not say what an unknown state means', async () => {
		const { send } = newTrigger({ verifySignature: false }, inState('odd'));
		expect(await send('task', { data: { state: 'success' }, headers: {} })).toMatchObject({
			status: 503,
			answer: { reason: 'taskNotEnded' },
		});
	});

	it.each(['a-key', ''])('needs no signature when that is off, with key %j', async (key) => {
		const { send } = newTrigger({ verifySignature: false });
		const { output } = await send('task', { headers: {}, webhookSecret: key });
		const verification = { signature: 'off', details: 'fetched' };
		expect(output).toMatchObject([{ json: { verification } }]);
	});

	it('waits four seconds for the details', async () => {
		const { begin } = newTrigger({}, async () => await new Promise(() => {}));
		const sent = begin('task');
		await jest.advanceTimersByTimeAsync(3_900);
		expect(await Promise.race([sent, 'waiting'])).toBe('waiting');
		await jest.advanceTimersByTimeAsync(200);
		expect(await sent).toMatchObject({ status: 503, answer: { reason: 'detailsUnavailable' } });
	});
});

describe("details that can't be read", () => {
	it.each<[string, ReadDetails, object]>([
		['no answer', async () => await Promise.reject(new Error('ECONNRESET')), later],
		...[408, 429, 455, 500, 503].map((code): [string, ReadDetails, object] => [
			`code ${code}`,
			answered(code),
			later,
		]),
		...[401, 505].map((code): [string, ReadDetails, object] => [
			`code ${code}`,
			answered(code),
			claimed,
		]),
		['another page', inText(200), claimed],
		['the record of another task', async () => buildDetails('another', 'success'), claimed],
	])('by %s', async (_, details, expected) => {
		const more = newService();
		expect(await newTrigger({}, details).send('task', { more })).toMatchObject(expected);
	});

	it('by a path that has no place for the ID', async () => {
		const more = newService({ customEndpoints: true, taskDetailsPath: '/details' });
		expect(await newTrigger().send('task', { more })).toMatchObject(claimed);
	});
});

describe('someone who has seen genuine headers of a task', () => {
	const claims = (callbackType: string) => ({ data: { callbackType } });
	const success = claims('task_completed');
	const failure = claims('task_failed');
	const failed = inState('fail');
	const going = inState('generating');
	const noSuchPath = inText(404);
	const fetched = (status: string, state: string) => ({
		output: [{ json: { taskId: 'task', status, state, verification: { details: 'fetched' } } }],
	});
	const hasCompleted = fetched('completed', 'success');
	const hasFailed = fetched('failed', 'fail');
	const byClaim = { output: [{ json: { status: 'completed', verification: { details: 'off' } } }] };
	const ignored = (reason: string) => ({ status: 200, answer: { reason }, output: undefined });
	const isForAnother = { status: 404, answer: { reason: 'createdForAnother' } };

	it.each<[string, IDataObject, number, Array<[ReadDetails, Partial<Callback>, object]>]>([
		[
			'uses up no true event while the service is down',
			{},
			3,
			[
				[down, success, later],
				[failed, failure, hasFailed],
				[failed, success, duplicate],
			],
		],
		[
			'uses up no true event while there are no details',
			{},
			5,
			[
				[noSuchPath, success, claimed],
				[noSuchPath, success, duplicate],
				[failed, failure, hasFailed],
				[noSuchPath, failure, duplicate],
				[completed, success, hasCompleted],
				[noSuchPath, failure, duplicate],
			],
		],
		[
			'uses up no true event in a state that no list has',
			{},
			2,
			[
				[inState('done'), success, fetched('completed', 'done')],
				[completed, success, hasCompleted],
			],
		],
		[
			'starts nothing for a task that another receiver waits for',
			{},
			2,
			[
				[createdFor('https://n8n.example/webhook/other/webhook'), success, isForAnother],
				[createdFor('https://n8n.example/webhook/workflow/webhook'), success, hasCompleted],
			],
		],
		[
			'starts nothing by the claim of an event that is not wanted',
			{ events: ['taskCompleted'] },
			1,
			[[noSuchPath, failure, ignored('eventNotWanted')]],
		],
		[
			'ends nothing by a part of a result, unless the details say so',
			{},
			4,
			[
				[going, claims('first'), ignored('taskNotEnded')],
				[noSuchPath, claims('text'), ignored('taskNotEnded')],
				[down, claims('first'), later],
				[completed, claims('first'), hasCompleted],
			],
		],
		[
			'starts nothing by a part of a result where Fetch Details is off',
			{ options: { fetchDetails: false } },
			0,
			[
				[completed, claims('first'), ignored('taskNotEnded')],
				[completed, claims('complete'), byClaim],
				[completed, claims('complete'), duplicate],
			],
		],
		[
			'starts one execution by other bodies where they are accepted',
			{ options: { otherCallbackBodies: true } },
			1,
			[
				[completed, { body: { data: { taskId: 'task', state: 'success' } } }, hasCompleted],
				[completed, { body: { taskId: 'task' } }, duplicate],
			],
		],
	])('%s', async (_, parameters, lookups, steps) => {
		const { asked, send, setDetails } = newTrigger({ events: both, ...parameters });
		for (const [details, callback, expected] of steps) {
			setDetails(details);
			const { store, ...received } = await send('task', callback);
			expect(received).toMatchObject(expected);
			if (received.output) store();
		}
		expect(asked).toHaveLength(lookups);
	});
});

describe('a task that is unknown by a details path that has not given one yet', () => {
	const doubtful = { status: 503, answer: { reason: 'detailsDoubtful' }, output: undefined };

	it.each([404, 422])('is asked for again, and counts by its signature then (%d)', async (code) => {
		const more = newService();
		const { begin, send, setDetails } = newTrigger({}, answered(code));
		expect(await begin('task', { more })).toMatchObject(doubtful);
		await jest.advanceTimersByTimeAsync(3_000);
		const again = await send('task', { more });
		expect(again).toMatchObject(claimed);
		again.store();
		expect(await send('task', { more })).toMatchObject(duplicate);
		// The path is mended: the confirmed event still comes.
		setDetails(completed);
		expect((await send('task', { more })).output).toMatchObject([
			{ json: { status: 'completed', verification: { details: 'fetched' } } },
		]);
		setDetails(answered(code));
		expect(await send('other', { more })).toMatchObject({ status: 404 });
	});

	it('has time to become known', async () => {
		const more = newService();
		const { begin, setDetails } = newTrigger({}, answered(404));
		for (const pause of [2_000, 1_000]) {
			expect(await begin('task', { more })).toMatchObject(doubtful);
			await jest.advanceTimersByTimeAsync(pause);
		}
		setDetails(completed);
		expect((await begin('task', { more })).output).toMatchObject([
			{ json: { status: 'completed' } },
		]);
	});

	it('starts nothing without a signature', async () => {
		const more = newService();
		const { send } = newTrigger({ verifySignature: false }, answered(404));
		for (const headers of [{}, {}])
			expect(await send('task', { headers, more })).toMatchObject({ status: 404 });
	});
});

describe('look-ups', () => {
	const going = inState('generating');
	const notEnded = { answer: { reason: 'taskNotEnded' } };

	it('of one pair of headers are one in three seconds, however often it is sent', async () => {
		const { asked, begin } = newTrigger({}, going);
		const headers = signNow();
		const counts: number[] = [];
		for (const wait of [0, 2_900, 200, 2_900, 200]) {
			await jest.advanceTimersByTimeAsync(wait);
			const copies = [begin('task', { headers }), begin('task', { headers })];
			expect(await Promise.all(copies)).toMatchObject([notEnded, notEnded]);
			counts.push(asked.length);
		}
		expect(counts).toEqual([1, 1, 2, 2, 3]);
	});

	it('of a callback with another time are its own: one under way may be older than the end', async () => {
		const { asked, begin, setDetails } = newTrigger({}, async (taskId) => {
			await sleep(2_000);
			return buildDetails(taskId, 'generating');
		});
		const early = begin('task');
		await jest.advanceTimersByTimeAsync(1_000);
		setDetails(completed);
		expect((await begin('task')).output).toHaveLength(1);
		await jest.advanceTimersByTimeAsync(2_000);
		expect(await early).toMatchObject(notEnded);
		expect(asked).toHaveLength(2);
	});

	it('are shared whatever the time says, where it is not signed', async () => {
		const { asked, begin } = newTrigger({ verifySignature: false }, going);
		for (let second = 0; second < 3; second++) {
			const headers = { ...signNow(), 'x-webhook-timestamp': String(second) };
			expect(await begin('task', { headers })).toMatchObject(notEnded);
		}
		expect(asked).toHaveLength(1);
	});

	it('are not shared with other tasks and triggers', async () => {
		const [one, other] = [newTrigger({}, going), newTrigger({}, going)];
		await Promise.all([one.begin('task'), one.begin('task-2'), other.begin('task')]);
		expect([one.asked, other.asked]).toEqual([['task', 'task-2'], ['task']]);
	});
});

describe('a task that was created for another receiver', () => {
	let nodes = 0;
	const own = 'https://n8n.example/webhook/c0ffee/webhook';
	it.each<[string, boolean, unknown]>([
		['its own URL', true, JSON.stringify({ callBackUrl: own })],
		['a relay that names it', true, '{"callBackUrl":"https://relay.example/c0ffee?a=b"}'],
		['a query that names it', false, '{"callBackUrl":"https://other.example/?to=c0ffee"}'],
		['the request as an object', true, { callBackUrl: own }],
		['another path', false, '{"callBackUrl":"https://n8n.example/webhook/decade/webhook"}'],
		['another host', false, { callBackUrl: 'https://other.example/hook' }],
		['no URL in its record', true, '{"model":"any"}'],
		['a URL that is none', true, '{"callBackUrl":["https://other.example"]}'],
		['a blank URL', true, '{"callBackUrl":""}'],
		['no JSON', true, 'callBackUrl'],
		['no request in its record', true, undefined],
	])('is known by its Callback URL: %s', async (_, isOwn, param) => {
		const { send } = newTrigger({}, async (taskId) => buildDetails(taskId, 'success', { param }));
		const node = { id: `with-webhook-${nodes++}`, name: 'Trigger', webhookId: 'c0ffee' };
		expect(await send('task', { more: { getNode: () => node } })).toMatchObject(
			isOwn
				? { output: [{ json: { taskId: 'task' } }] }
				: { status: 404, answer: { reason: 'createdForAnother' }, output: undefined },
		);
	});
});

it('a body in a type that is JSON by its suffix is read from its bytes', async () => {
	const bytes = Buffer.from('{"data":{"task_id":"task"}}');
	const headers = { ...signNow(), 'content-type': 'application/task+json' };
	const read = async (request: { rawBody?: Buffer; readRawBody?: () => Promise<void> }) =>
		await newTrigger().send('task', {
			headers,
			body: {},
			more: { getRequestObject: () => request },
		});
	const unread = {
		rawBody: undefined as Buffer | undefined,
		readRawBody: async () => void (unread.rawBody = bytes),
	};
	for (const request of [unread, { rawBody: bytes }])
		expect((await read(request)).output).toMatchObject([
			{ json: { taskId: 'task', callback: { data: { task_id: 'task' } } } },
		]);
	const tooLarge = async () => await Promise.reject(new Error('request entity too large'));
	for (const request of [{ rawBody: Buffer.from('{"data"') }, { readRawBody: tooLarge }, {}])
		expect(await read(request)).toMatchObject({
			status: 400,
			answer: { reason: 'bodyNotAnObject' },
		});
});

describe('copies of a callback', () => {
	it('start nothing once n8n has stored the first, and are not looked up', async () => {
		const { asked, send } = newTrigger();
		(await send('task')).store();
		expect(await send('task')).toMatchObject(duplicate);
		expect(asked).toEqual(['task']);
		expect((await send('other')).output).toHaveLength(1);
	});

	it('are of one outcome: a failed task may yet complete', async () => {
		let state = 'fail';
		const { send } = newTrigger({ events: both }, async (taskId) => buildDetails(taskId, state));
		(await send('task')).store();
		expect(await send('task')).toMatchObject(duplicate);
		state = 'success';
		(await send('task')).store();
		expect(await send('task')).toMatchObject(duplicate);
	});

	it('wait four seconds for n8n to store the first, and are to be sent again after that', async () => {
		const { begin, send } = newTrigger();
		const first = await send('task');
		expect(await send('task')).toMatchObject({ status: 503, answer: { reason: 'underway' } });
		const copy = begin('task');
		await jest.advanceTimersByTimeAsync(2_000);
		first.store();
		await jest.advanceTimersByTimeAsync(100);
		expect(await copy).toMatchObject(duplicate);
	});

	it.each<[string, IDataObject, Callback['more']]>([
		['Deduplicate is off', { options: { deduplicate: false } }, {}],
		['it is off and details too', { options: { deduplicate: false, fetchDetails: false } }, {}],
		['n8n listens for test events', {}, { getMode: () => 'manual' }],
	])('start one each when %s', async (_, parameters, more) => {
		const set: IDataObject = {};
		const { send } = newTrigger(set);
		(await send('task')).store();
		Object.assign(set, parameters);
		for (const time of [1, 2]) {
			const { output, store } = await send('task', { more });
			expect([time, output]).toMatchObject([time, [{ json: { taskId: 'task' } }]]);
			store();
		}
	});

	it.each([
		[300, 3_600],
		[7_200, 14_400],
	])('are, with a tolerance of %d s, remembered for %d s', async (toleranceSeconds, seconds) => {
		const began = Date.UTC(2025, 10, 20);
		jest.setSystemTime(began);
		const { send } = newTrigger({ options: { toleranceSeconds } });
		(await send('task')).store();
		jest.setSystemTime(began + seconds * 1_000);
		expect(await send('task')).toMatchObject(duplicate);
		jest.setSystemTime(began + seconds * 1_000 + 1_000);
		expect((await send('task')).output).toHaveLength(1);
	});

	it('start one again after the trigger was deactivated', async () => {
		const { send, forget } = newTrigger();
		(await send('task')).store();
		forget();
		expect((await send('task')).output).toHaveLength(1);
	});
});
