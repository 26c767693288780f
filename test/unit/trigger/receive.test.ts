import { sleep, type IDataObject } from 'n8n-workflow';
import { addReference } from '../../../nodes/MediaGeneration/callback/reference';
import { wakeExecution } from '../../../nodes/MediaGeneration/run/sleep/wake';
import { receiveCallback } from '../../../nodes/MediaGeneration/trigger/receive';
import { buildDetails, sendCallback, type Callback, type ReadDetails } from '../n8n';

let triggers = 0;

/** A trigger whose service answers as the test says. */
function newTrigger(parameters: IDataObject = {}, details: ReadDetails = completed) {
	const id = `receive-${triggers++}`;
	const asked: string[] = [];
	const logged: string[] = [];
	// n8n writes each change to its database, so a forged callback must change nothing.
	let mayChange = false;
	const earlyChanges: unknown[] = [];
	const staticData = new Proxy<IDataObject>(
		{},
		{
			defineProperty(data, key, property) {
				if (!mayChange) earlyChanges.push(key);
				return Reflect.defineProperty(data, key, property);
			},
			deleteProperty(data, key) {
				earlyChanges.push(key);
				return Reflect.deleteProperty(data, key);
			},
		},
	);
	const log = (line: string) => void logged.push(line);
	const node = { id, name: 'Trigger', parameters: { events: ['taskCompleted'], ...parameters } };
	const begin = async ({ more, ...callback }: Partial<Callback> = {}) => {
		const received = await sendCallback(receiveCallback, {
			taskId: 'task',
			readDetails: async (task) => {
				asked.push(task);
				return await details(task);
			},
			...callback,
			...{ node, log },
			more: { getWorkflowStaticData: () => staticData, ...more },
		});
		expect({ changedBeforeStored: earlyChanges }).toEqual({ changedBeforeStored: [] });
		const { store } = received;
		received.store = () => {
			mayChange = true;
			const answer = store();
			mayChange = false;
			return answer;
		};
		return received;
	};
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

const inState = (state: string, more?: object) => async (taskId: string) =>
	buildDetails(taskId, state, more);
const completed = inState('success');
const failed = inState('fail');
const answered = (code: number) => async () => ({ statusCode: code, body: `{"code":${code}}` });
const down = answered(500);
const unknown = answered(422);
const noSuchPath = async () => ({ statusCode: 404, body: '<!DOCTYPE html>' });

const claims = (callbackType: string) => ({ data: { callbackType } });
const success = claims('task_completed');
const failure = claims('task_failed');

/** The whole answer: a sender learns no more of a copy. */
const ignored = (reason: string) => ({
	status: 200,
	answer: { accepted: true, emitted: false, reason },
	output: undefined,
});
const duplicate = ignored('duplicate');
const refused = (httpStatus: number, reason: string) => ({
	status: httpStatus,
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

jest.useFakeTimers();

const unsigned = { headers: {} };
const anyone = { verifySignature: false };
it.each<[string, object, Partial<Callback>, ReadDetails, IDataObject, number]>([
	['is of another key', refused(401, 'signatureWrong'), { key: 'wrong' }, completed, {}, 0],
	['is unsigned, of an unknown task', refused(404, 'taskUnknown'), unsigned, unknown, anyone, 3],
	['is unsigned, without details', later, unsigned, noSuchPath, anyone, 1],
	['is unsigned, and odd', refused(503, 'taskNotEnded'), unsigned, inState('odd'), anyone, 1],
])('a callback is refused that %s', async (_, expected, callback, details, parameters, count) => {
	const { asked, send } = newTrigger(parameters, details);
	expect(await send({ ...success, ...callback })).toMatchObject(expected);
	expect(asked).toHaveLength(count);
});

it('a callback without a signature may have its ID at the top alone', async () => {
	const { asked, send } = newTrigger(anyone);
	const { output } = await send({ ...unsigned, body: { taskId: 'task', state: 'success' } });
	expect(output).toMatchObject([{ json: { taskId: 'task', status: 'completed' } }]);
	expect(asked).toEqual(['task']);
});

it.each([
	['the trigger', receiveCallback],
	['a run that sleeps', wakeExecution],
])("a callback is refused by %s while the credential can't be read", async (name, receive) => {
	const logged: string[] = [];
	const receiver = { node: { id: name, name }, log: (line: string) => void logged.push(line) };
	const more = { getCredentials: async () => await Promise.reject(new Error('no database')) };
	const received = await sendCallback(receive, { taskId: 'task', ...receiver, more });
	expect(received).toMatchObject(refused(503, 'temporarilyUnavailable'));
	expect(logged).toEqual([expect.stringContaining('503 temporarilyUnavailable; no database')]);
});

it('refusals are logged once a minute for each reason and node', async () => {
	const [one, other] = [newTrigger(), newTrigger()];
	for (const { begin } of [one, one, other]) {
		await begin({ timestamp: 1 });
		await begin({ key: 'wrong' });
	}
	const facts =
		/^"Trigger" refused a callback: .* present time \(401 timestampStale; \d+ s behind the clock here\)$/;
	const lines = [facts, /401 signatureWrong\)$/].map((line): unknown =>
		expect.stringMatching(line),
	);
	expect([one.logged, other.logged]).toEqual([lines, lines]);
	await jest.advanceTimersByTimeAsync(60_000);
	await one.begin({ key: 'wrong' });
	expect(one.logged).toEqual([...lines, lines[1]]);
});

it('a callback starts an execution with the task, the callback without secrets, and how both were checked', async () => {
	const secret = 'a-long-key-9a77';
	const { send } = newTrigger();
	const sent = { key: secret, webhookSecret: secret, data: { more: [1, secret] } };
	const { output, store } = await send(sent);
	const task = { taskId: 'task', status: 'completed', state: 'success', resultUrls: [] };
	const callback = { data: { task_id: 'task', more: [1, '***'] } };
	expect(output).toStrictEqual([
		{ json: { ...task, callback, verification: verified('fetched') } },
	]);
	expect(store()).toEqual({ accepted: true, emitted: true });
});

it('the item says that the result was a file in the answer, which was left out', async () => {
	const file = `data:image/png;base64,${'Ab3/'.repeat(600_000)}`;
	const { output } = await newTrigger({}, inState('success', { resultJson: file })).send();
	const downloadError = expect.stringContaining('too large to keep that') as string;
	expect(output).toMatchObject([{ json: { result: 'data:image/png;base64,…', downloadError } }]);
});

const never = async () => await new Promise<never>(() => {});
const slowly = async () => await sleep(800).then(unknown);
it.each<[string, ReadDetails[], object, number[]]>([
	['come a second later', [unknown, completed], hasCompleted, [0, 1_000]],
	['are of an unknown task', [unknown], claimed, [0, 1_000, 3_000]],
	['are of a task that a slow service does not know', [slowly], claimed, [0, 1_800, 4_600]],
	['do not come', [never], later, [0]],
])(
	'the trigger asks for details until the sender gives up: they %s',
	async (_, answers, expected, times) => {
		const asked: number[] = [];
		const begun = Date.now();
		const { begin } = newTrigger({}, async (taskId) => {
			asked.push(Date.now() - begun);
			return await (answers[asked.length - 1] ?? answers.at(-1) ?? never)(taskId);
		});
		const sent = begin();
		await jest.advanceTimersByTimeAsync(5_000);
		expect(await Promise.race([sent, 'waiting'])).toMatchObject(expected);
		expect(asked).toEqual(times);
	},
);

type Step = [ReadDetails, Partial<Callback>, object];
const byClaim = { output: [{ json: { status: 'completed', verification: verified('off') } }] };
it.each<[string, Step[], IDataObject?]>([
	[
		'while the service is down',
		[
			[down, success, later],
			[failed, failure, hasFailed],
			[failed, success, duplicate],
		],
	],
	[
		'while there are no details',
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
		'in a state that no list has',
		[
			[inState('polished'), success, fetched('completed', 'polished')],
			[completed, success, hasCompleted],
		],
	],
	[
		'where Fetch Details is off, and copies make no second event',
		[
			[completed, claims('first'), ignored('taskNotEnded')],
			[completed, claims('complete'), byClaim],
			[completed, claims('complete'), duplicate],
		],
		{ options: { fetchDetails: false } },
	],
])('replayed headers suppress no true event: %s', async (_, steps, parameters = {}) => {
	const { send, setDetails } = newTrigger({
		events: ['taskCompleted', 'taskFailed'],
		...parameters,
	});
	for (const [details, callback, expected] of steps) {
		setDetails(details);
		const { store, ...received } = await send(callback);
		expect(received).toMatchObject(expected);
		if (received.output) store();
	}
});

it.each<[string, boolean, unknown, string | undefined]>([
	['a relay that names it', true, '{"callBackUrl":"https://relay.example/c0ffee?a=b"}', 'c0ffee'],
	['the workflow in place of it', false, { callBackUrl: 'https://n8n.example/workflow' }, 'c0ffee'],
	['no request in its record', true, undefined, 'c0ffee'],
])(
	'the Callback URL in the details decides which trigger a task belongs to: %s',
	async (id, isOwn, param, webhookId) => {
		const { send } = newTrigger({}, async (taskId) => buildDetails(taskId, 'success', { param }));
		const expected = isOwn ? hasCompleted : refused(404, 'createdForAnother');
		expect(await send({ more: { getNode: () => ({ id, webhookId }) } })).toMatchObject(expected);
	},
);

/** As long as the IDs of services, which look like tokens. */
const TASK_ID = '5f2c9c1e7d0c6f0f9f2e4f6b8a1c3e5d';
const failedFor = (callBackUrl: string) => inState('fail', { param: { callBackUrl } });
const own = failedFor('https://n8n.example/c0ffee?x=1');
const foreign = failedFor('https://n8n.example/another');
const itFailed = { output: [{ json: { taskId: TASK_ID, status: 'failed' } }] };
const inQuery = { x: TASK_ID, signature: TASK_ID };
it.each<[string, ReadDetails, IDataObject, object]>([
	['its task has failed, and the query has its ID', own, inQuery, itFailed],
	["it is another receiver's, by the query", foreign, inQuery, refused(404, 'createdForAnother')],
	['the details are of another task', async () => buildDetails('another', 'success'), {}, later],
])(
	'a genuine ID and signature make no other body true: %s',
	async (_, details, query, expected) => {
		const { logged, send } = newTrigger({ events: ['taskCompleted', 'taskFailed'] }, details);
		const more = {
			getNode: () => ({ id: `genuine-${triggers}`, name: 'Trigger', webhookId: 'c0ffee' }),
		};
		expect(await send({ ...success, taskId: TASK_ID, query, more })).toMatchObject(expected);
		const why = expected === later ? [expect.stringMatching(/503 .*; .* is of another task/)] : [];
		expect(logged.filter((line) => line.includes('503'))).toEqual(why);
	},
);

/** Signs a reference, and returns the parameter of the URL. */
const refer = (text: string, current: string) =>
	new URL(addReference('https://n8n.example/', text, { current })).searchParams.get('reference');

const other = (text: string) => Buffer.from(text).toString('base64url');

describe('a reference', () => {
	const key = 'a-long-key-9a77';
	const signed = { key, webhookSecret: key };

	it.each<[string, unknown, IDataObject?]>([
		['the current key', refer('42', key)],
		['the current key, though nobody verifies callbacks', refer('42', key), anyone],
	])('is output if it was made with %s', async (_, reference, ...parameters) => {
		const { logged, send } = newTrigger(...parameters);
		const { output } = await send({ ...signed, query: { reference, x: '1' } });
		expect(output?.[0]?.json).toMatchObject({ taskId: 'task', reference: '42' });
		expect(logged.join()).not.toContain('reference');
	});

	const good = refer('42', key);
	it.each<[string, unknown]>([
		['changed', `${other('43')}.${String(good).split('.')[1]}`],
		['repeated', [good, good]],
		['a longer one', `${good}A`],
	])('is left out with one line in the log if it is %s', async (_, reference) => {
		const { logged, send } = newTrigger();
		const { output } = await send({ ...signed, query: { reference } });
		expect(output).toMatchObject([{ json: { taskId: 'task' } }]);
		expect(output?.[0]?.json).not.toHaveProperty('reference');
		expect(logged).toEqual([
			expect.stringMatching(/^"Trigger" leaves out the reference in a callback's URL: no key /),
		]);
		expect(logged[0]).not.toContain(String(good));
	});

	it('is left out where the credential has no key', async () => {
		const { logged, send } = newTrigger(anyone);
		const query = { reference: refer('42', ' ') };
		const { output } = await send({ ...unsigned, webhookSecret: ' ', query });
		expect(output).toMatchObject([{ json: { verification: { signature: 'off' } } }]);
		expect(output?.[0]?.json).not.toHaveProperty('reference');
		expect(logged).toHaveLength(1);
	});
});

describe('copies of a callback', () => {
	it('start one execution and make one request, also when they come at once', async () => {
		const { asked, begin } = newTrigger();
		const [first, ...copies] = Array.from({ length: 20 }, async () => await begin());
		(await first)?.store();
		await jest.advanceTimersByTimeAsync(100);
		expect(await Promise.all(copies)).toMatchObject(copies.map(() => duplicate));
		expect(asked).toEqual(['task']);
	});

	const underway = refused(503, 'underway');
	type First = Awaited<ReturnType<ReturnType<typeof newTrigger>['send']>>;
	it.each<[string, (first: First) => unknown, object]>([
		['wait in vain for n8n to store the first', () => {}, underway],
		['are copies of what n8n stored after a hang-up', (first) => first.hangUp().store(), duplicate],
		[
			'take its place if n8n could not store it after a hang-up',
			(first) => first.hangUp().fail(),
			hasCompleted,
		],
	])('%s', async (_, act, expected) => {
		const { begin, send } = newTrigger();
		const first = await begin();
		await act(first);
		expect(await send()).toMatchObject(expected);
	});

	it.each<[string, IDataObject]>([
		['with a tolerance of 0', { options: { toleranceSeconds: 0 } }],
		['without a signature', anyone],
	])('%s are known a day later, though their age is not looked at', async (_, parameters) => {
		const { send } = newTrigger(parameters);
		const timestamp = Math.floor(Date.now() / 1_000);
		(await send({ timestamp })).store();
		await jest.advanceTimersByTimeAsync(24 * 3_600_000);
		expect(await send({ timestamp })).toMatchObject(duplicate);
	});

	it('start one each when n8n listens for test events', async () => {
		const { send } = newTrigger();
		for (const time of [1, 2]) {
			const { output, store } = await send({ mode: 'manual' });
			expect([time, output]).toMatchObject([time, [{ json: { taskId: 'task' } }]]);
			store();
		}
	});
});
