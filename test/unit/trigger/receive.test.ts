import type { IDataObject } from 'n8n-workflow';
import { receiveCallback } from '../../../nodes/MediaGeneration/trigger/receive';
import { buildDetails, sendCallback, type Callback, type ReadDetails } from '../webhook';

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
		logger: { info: log, warn: log, error: log },
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
		begin,
		/** Sends a callback, and lets the time for its answer pass. */
		async send(...callback: Parameters<typeof begin>) {
			const begun = begin(...callback);
			await jest.advanceTimersByTimeAsync(5_500);
			return await begun;
		},
	};
}

const inState = (state: string) => async (taskId: string) => buildDetails(taskId, state);
const completed = inState('success');
const failed = inState('fail');
const answered = (code: number) => async () => ({
	statusCode: code,
	body: JSON.stringify({ code }),
});
const down = answered(500);
const unknown = answered(422);
const noSuchPath = async () => ({ statusCode: 404, body: '<!DOCTYPE html>' });
const both = ['taskCompleted', 'taskFailed'];

const claims = (callbackType: string) => ({ data: { callbackType } });
const success = claims('task_completed');
const failure = claims('task_failed');

/** The answer is the whole one: a sender learns no more of a copy. */
const ignored = (reason: string) => ({
	status: 200,
	answer: { accepted: true, emitted: false, reason },
	output: undefined,
});
const duplicate = ignored('duplicate');
const refused = (status: number, reason: string) => ({
	status,
	answer: { accepted: false, reason, message: expect.any(String) },
	output: undefined,
});
const later = refused(503, 'detailsUnavailable');
const verified = (details: string) => ({ signature: 'current', details });
const claimed = { output: [{ json: { taskId: 'task', verification: verified('unavailable') } }] };
const fetched = (status: string, state: string) => ({
	output: [{ json: { taskId: 'task', status, state, verification: verified('fetched') } }],
});
const hasCompleted = fetched('completed', 'success');
const hasFailed = fetched('failed', 'fail');

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('a callback that the trigger refuses', () => {
	const unsigned = { headers: {} };
	const anyone = { verifySignature: false };
	it.each<[string, object, Partial<Callback>, ReadDetails, IDataObject, number]>([
		['is of another key', refused(401, 'signatureWrong'), { secret: 'wrong' }, completed, {}, 0],
		['meets no key', refused(401, 'keyMissing'), { webhookSecret: ' ' }, completed, {}, 0],
		['is unsigned, of an unknown task', refused(404, 'taskUnknown'), unsigned, unknown, anyone, 2],
		['is unsigned, without details', later, unsigned, noSuchPath, anyone, 1],
		['is unsigned, and odd', refused(503, 'taskNotEnded'), unsigned, inState('odd'), anyone, 1],
	])('%s', async (_, expected, callback, details, parameters, requests) => {
		const { asked, send } = newTrigger(parameters, details);
		expect(await send('task', { ...success, ...callback })).toMatchObject(expected);
		expect(asked).toHaveLength(requests);
	});

	it("comes while the credential can't be read: a line a minute, and a read a second", async () => {
		const { logged, send, begin } = newTrigger({ verifySignature: false });
		let reads = 0;
		const getCredentials = async () => {
			reads++;
			return await Promise.reject(new Error('no database'));
		};
		const more = { getCredentials };
		const unavailable = refused(503, 'temporarilyUnavailable');
		for (let count = 0; count < 20; count++)
			expect(await begin('task', { more, headers: {} })).toMatchObject(unavailable);
		expect(reads).toBe(1);
		await jest.advanceTimersByTimeAsync(1_000);
		await send('task', { more });
		expect(reads).toBe(2);
		expect(logged).toEqual([expect.stringContaining('503 temporarilyUnavailable; no database')]);
	});
});

describe('a callback that the trigger accepts', () => {
	it('starts an execution with the task, the callback and how both were checked', async () => {
		const { send } = newTrigger();
		const { output, store } = await send('task', { data: { more: 1 } });
		const task = { taskId: 'task', status: 'completed', state: 'success', resultUrls: [] };
		const callback = { data: { task_id: 'task', more: 1 } };
		expect(output).toStrictEqual([
			{ json: { ...task, callback, verification: verified('fetched') } },
		]);
		expect(store()).toEqual({ accepted: true, emitted: true });
	});

	it.each(['a-key', ''])('needs no signature when that is off, with key %j', async (key) => {
		const { send } = newTrigger({ verifySignature: false });
		const { output } = await send('task', { headers: {}, webhookSecret: key });
		const verification = { signature: 'off', details: 'fetched' };
		expect(output).toMatchObject([{ json: { verification } }]);
	});

	it("repeats no secrets of the credential or of n8n's resume URLs", async () => {
		const [accessToken, webhookSecret] = ['a-long-token-5f1c', 'a-long-key-9a77'];
		const more = {
			getCredentials: async () => ({ baseUrl: 'https://api.example', accessToken, webhookSecret }),
		};
		const resumeUrl = 'https://n8n.example/webhook-waiting/7?signature=0123456789abcdef0123';
		const { send } = newTrigger();
		const { output } = await send('task', {
			more,
			secret: webhookSecret,
			body: {
				msg: `Bearer ${accessToken}`,
				data: {
					taskId: 'task',
					param: JSON.stringify({ callBackUrl: resumeUrl }),
					key: [webhookSecret],
				},
			},
		});
		expect(output).toMatchObject([
			{
				json: {
					callback: {
						msg: 'Bearer ***',
						data: {
							taskId: 'task',
							param: '{"callBackUrl":"https://n8n.example/webhook-waiting/7?***"}',
							key: ['***'],
						},
					},
				},
			},
		]);
	});
});

it('a callback without details is logged, and waited for as long as a sender waits', async () => {
	const { logged, send } = newTrigger({}, answered(401));
	expect(await send('task')).toMatchObject(claimed);
	expect(logged).toEqual([
		expect.stringMatching(/^"Trigger" outputs a task without its details: .*access/),
	]);
	const slow = newTrigger({}, async () => await new Promise(() => {}));
	const sent = slow.begin('task');
	await jest.advanceTimersByTimeAsync(4_900);
	expect(await Promise.race([sent, 'waiting'])).toBe('waiting');
	await jest.advanceTimersByTimeAsync(200);
	expect(await sent).toMatchObject(later);
});

describe('someone who has seen genuine headers of a task', () => {
	const createdFor = (callBackUrl: string) => async (taskId: string) =>
		buildDetails(taskId, 'success', { param: JSON.stringify({ model: 'any', callBackUrl }) });
	const isForAnother = refused(404, 'createdForAnother');
	const notEnded = ignored('taskNotEnded');
	const byClaim = { output: [{ json: { status: 'completed', verification: verified('off') } }] };
	const unfetched = { options: { fetchDetails: false } };

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
				[inState('polished'), success, fetched('completed', 'polished')],
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
			'starts nothing twice where Fetch Details is off',
			unfetched,
			0,
			[
				[completed, claims('first'), notEnded],
				[completed, claims('complete'), byClaim],
				[completed, claims('complete'), duplicate],
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

describe('a task that was created for another receiver', () => {
	let nodes = 0;
	it.each<[string, boolean, unknown]>([
		['a relay that names it', true, '{"callBackUrl":"https://relay.example/c0ffee?a=b"}'],
		['a query that names it', false, '{"callBackUrl":"https://other.example/?to=c0ffee"}'],
		['another host', false, { callBackUrl: 'https://other.example/hook' }],
		['a URL that is none', true, '{"callBackUrl":["https://other.example"]}'],
		['no request in its record', true, undefined],
	])('is known by its Callback URL: %s', async (_, isOwn, param) => {
		const { send } = newTrigger({}, async (taskId) => buildDetails(taskId, 'success', { param }));
		const node = { id: `with-webhook-${nodes++}`, name: 'Trigger', webhookId: 'c0ffee' };
		expect(await send('task', { more: { getNode: () => node } })).toMatchObject(
			isOwn ? hasCompleted : refused(404, 'createdForAnother'),
		);
	});
});

describe('copies of a callback', () => {
	it('are one execution and one request, also when they come at once', async () => {
		const { asked, begin } = newTrigger();
		const [first, ...copies] = Array.from({ length: 20 }, async () => await begin('task'));
		(await first)?.store();
		await jest.advanceTimersByTimeAsync(100);
		expect(await Promise.all(copies)).toMatchObject(copies.map(() => duplicate));
		expect(asked).toEqual(['task']);
	});

	it('wait for n8n to store the first, and are to be sent again after that', async () => {
		const { begin, send } = newTrigger();
		const first = await send('task');
		expect(await send('task')).toMatchObject(refused(503, 'underway'));
		const copy = begin('task');
		await jest.advanceTimersByTimeAsync(2_000);
		first.store();
		await jest.advanceTimersByTimeAsync(100);
		expect(await copy).toMatchObject(duplicate);
	});

	it('need not wait for one that brought an event that is not wanted', async () => {
		const { begin, setDetails } = newTrigger({}, failed);
		expect((await begin('task')).output).toBeUndefined();
		setDetails(completed);
		expect(await begin('task')).toMatchObject(hasCompleted);
	});

	it.each<[string, IDataObject, Callback['more']]>([
		['Deduplicate is off', { options: { deduplicate: false } }, {}],
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
});
