const fs = require('node:fs');
const path = require('node:path');
const zlib = require('node:zlib');
const { setTimeout: pause } = require('node:timers/promises');
const fc = require('fast-check').default;
const { INSPECTABLE, measureLiveMemory } = require('../../dev/n8n/inspect.cts');
const { callbackCases } = require('../unit/callbackCases');
const { hostileCallbacks } = require('../unit/hostileCallbacks');
const { CREDENTIAL_TYPE, buildCredentialData, startPair } = require('../../dev/fixtures/pair.cts');
const {
	runConcurrently,
	createEndedTask,
	post,
	postJson,
} = require('../../dev/fixtures/callbacks.cts');
const { chain, triggered } = require('../../dev/fixtures/workflows.cts');

const KEY = 'whk-current-5f1c9a';
const PREVIOUS_KEY = 'whk-previous-77ab02';
const TOKEN = 'dev-token';
/** Stands in bodies that are refused; nothing of them may be kept. */
const MARK = 'refused-body-mark-31d2';

/** @type {Awaited<ReturnType<typeof startPair>>} */
let pair;
/** Every genuine signature that was sent. */
const signatures = new Set();

beforeAll(async () => {
	pair = await startPair({
		service: { taskSeconds: 0.05, webhookSecret: KEY, costPerTask: 0 },
		n8n: { env: INSPECTABLE },
	});
	const name = 'With both keys';
	const data = buildCredentialData(pair.service, {
		webhookSecret: KEY,
		previousWebhookSecret: PREVIOUS_KEY,
	});
	const credential = await pair.n8n.createCredential({ name, type: CREDENTIAL_TYPE, data });
	pair.credentials = { credentials: { [CREDENTIAL_TYPE]: credential } };
});

afterAll(async () => {
	await pair?.stop();
});

const now = () => Math.floor(Date.now() / 1000);

/**
 * The headers of a genuine callback.
 * @param {string} taskId
 * @param {{ seconds?: number, key?: string }} [options]
 */
function signed(taskId, { seconds = now(), key = KEY } = {}) {
	const signature = pair.service.sign(taskId, seconds, key);
	signatures.add(signature);
	return {
		'content-type': 'application/json',
		'x-webhook-timestamp': String(seconds),
		'x-webhook-signature': signature,
	};
}

/** @param {string} taskId */
const bodyOf = (taskId) => ({ taskId, code: 200, msg: 'success', data: { task_id: taskId } });

/** @param {Record<string, unknown>} [parameters] */
async function activeTrigger(parameters) {
	const { id } = await pair.n8n.importWorkflow(triggered(parameters), pair.credentials);
	await pair.n8n.activate(id);
	return { id, url: await pair.n8n.getProductionWebhookUrl(id) };
}

/**
 * The task ids that the executions of a workflow got, in their order, once there are so many; those that crashed too.
 * @param {string} workflowId
 * @param {number} count
 */
async function emittedTasks(workflowId, count) {
	const executions = await pair.n8n.waitForExecutions({ workflowId, count });
	return executions.flatMap((execution) =>
		execution.getItems('Trigger').map(({ taskId }) => String(taskId)),
	);
}

const EMITTED = { accepted: true, emitted: true };
const DUPLICATE = { accepted: true, emitted: false, reason: 'duplicate' };

describe('every form of a callback that has a name', () => {
	it('gets the answer of the table, and only the first genuine one starts the workflow', async () => {
		const { id, url } = await activeTrigger();
		const taskId = await createEndedTask(pair.service);
		const subject = { taskId, seconds: now(), key: KEY, previousKey: PREVIOUS_KEY };
		const answers = [];
		const table = callbackCases(subject);
		for (const { name, headers, body } of table) {
			const { status, json } = await postJson(url, headers, body);
			answers.push({ name, status, reason: status === 200 ? undefined : json?.reason });
			if (status === 200) signatures.add(headers['x-webhook-signature']);
		}
		expect(answers).toEqual(table.map(({ name, status, reason }) => ({ name, status, reason })));
		expect(await emittedTasks(id, 1)).toEqual([taskId]);
	});

	it('gets an answer as bytes too: of n8n where it can not be read, else of ours', async () => {
		const { id, url } = await activeTrigger();
		const taskId = await createEndedTask(pair.service);
		const good = signed(taskId);
		const json = JSON.stringify(bodyOf(taskId));
		/** @param {string} type */
		const typed = (type) => ({ ...good, 'content-type': type });
		/** @param {string} coding */
		const coded = (coding) => ({ ...good, 'content-encoding': coding });
		/** @type {Array<[string, number, string | undefined, Record<string, string | string[]>, string | Buffer]>} */
		// prettier-ignore
		const table = [
			['JSON', 200, undefined, good, json],
			['gzip', 200, undefined, coded('gzip'), zlib.gzipSync(json)],
			['deflate', 200, undefined, coded('deflate'), zlib.deflateSync(json)],
			['UTF-16, named', 200, undefined, typed('application/json; charset=utf-16le'), Buffer.from(json, 'utf16le')],
			['header names in capitals', 200, undefined, Object.fromEntries(Object.entries(good).map(([name, value]) => [name.toUpperCase(), value])), json],
			['the timestamp in two headers', 401, 'timestampMalformed', { ...good, 'x-webhook-timestamp': [String(now()), String(now())] }, json],
			['the signature in two headers', 401, 'signatureWrong', { ...good, 'x-webhook-signature': [good['x-webhook-signature'], good['x-webhook-signature']] }, json],
			['nothing', 400, 'bodyNotAnObject', good, ''],
			['no content type', 400, 'bodyNotAnObject', typed(''), json],
			['bytes that are not UTF-8', 400, 'taskIdMissing', good, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
			['a list nested 200,000 levels deep', 400, 'bodyNotAnObject', good, '['.repeat(200_000) + ']'.repeat(200_000)],
			['a form', 400, 'bodyNotAnObject', typed('application/x-www-form-urlencoded'), `taskId=${taskId}&data[task_id]=${taskId}`],
			['XML', 400, 'bodyNotAnObject', typed('application/xml'), `<data><task_id>${taskId}</task_id></data>`],
			['multipart', 400, 'bodyNotAnObject', typed('multipart/form-data; boundary=x'), `--x\r\ncontent-disposition: form-data; name="task_id"\r\n\r\n${taskId}\r\n--x--\r\n`],
			['14 MB', 400, 'taskIdMissing', good, `{"x":"${'a'.repeat(14 << 20)}"}`],
			['multipart without a boundary (n8n)', 400, undefined, typed('multipart/form-data'), json],
			['JSON cut short (n8n)', 422, undefined, good, `{"x":"${MARK}${json}`],
			['a coding that n8n does not know (n8n)', 422, undefined, coded('br'), zlib.brotliCompressSync(json)],
			['a charset that nobody knows (n8n)', 422, undefined, typed('application/json; charset=klingon'), json],
			['XML cut short (n8n)', 422, undefined, typed('application/xml'), '<data'],
			['gzip that is none (n8n)', 500, undefined, coded('gzip'), json],
			['64 MB in gzip (n8n)', 500, undefined, coded('gzip'), zlib.gzipSync(Buffer.alloc(64 << 20, ' '))],
			['17 MB (n8n)', 500, undefined, good, `{"x":"${'a'.repeat(17 << 20)}"}`],
		];
		const answers = [];
		for (const [name, , , headers, body] of table) {
			const { status, json } = await post(url, { headers, body });
			// How much of multipart is left to us differs between versions of n8n.
			const ours = status !== 200 && !name.endsWith('(n8n)');
			answers.push([name, status, ours ? json?.reason : undefined]);
		}
		expect(answers).toEqual(table.map(([name, status, reason]) => [name, status, reason]));
		// Newer n8n skip a byte order mark, older ones can't read on.
		const marked = await post(url, { headers: good, body: `\ufeff${json}` });
		expect([200, 422]).toContain(marked.status);
		expect(await emittedTasks(id, 1)).toEqual([taskId]);
	});
});

describe('2,000 hostile callbacks, and genuine ones among them', () => {
	it('start nothing, and each genuine one starts one execution; n8n stays healthy and its memory flat', async () => {
		const { id, url } = await activeTrigger();
		const known = await createEndedTask(pair.service);
		const subject = { taskId: known, seconds: now(), key: KEY };
		const seen = signed(known, { seconds: subject.seconds });
		const hostile = fc
			.sample(hostileCallbacks(subject), 4_000)
			.map(({ headers, body }) => ({ headers: sendable(headers), body }))
			.filter(
				({ headers }) => headers['x-webhook-signature']?.trim() !== seen['x-webhook-signature'],
			)
			.slice(0, 2_000);
		expect(hostile).toHaveLength(2_000);
		const genuine = await runConcurrently(
			Array.from({ length: 40 }),
			8,
			async () => await createEndedTask(pair.service),
		);

		/** @type {Array<() => Promise<import('../../dev/fixtures/callbacks.cts').Answer>>} */
		const requests = hostile.map(
			({ headers, body }) =>
				async () =>
					await postJson(url, headers, body),
		);
		for (const [index, taskId] of genuine.entries())
			requests.splice(index * 51, 0, async () => {
				const answer = await postJson(url, signed(taskId), bodyOf(taskId));
				expect(answer).toMatchObject({ status: 200, json: EMITTED });
				return answer;
			});
		const settled = 1_000;
		await runConcurrently(requests.slice(0, settled), 8, async (send) => await send());
		const before = await measureLiveMemory(pair.n8n);
		const answers = await runConcurrently(requests.slice(settled), 8, async (send) => await send());
		expect(answers.filter(({ status }) => status >= 500)).toEqual([]);

		expect((await emittedTasks(id, genuine.length)).sort()).toEqual(genuine.sort());
		expect(await pair.n8n.listExecutions({ workflowId: id })).toHaveLength(genuine.length);
		expect((await fetch(`${pair.n8n.url}/healthz`)).status).toBe(200);
		expect((await measureLiveMemory(pair.n8n)) - before).toBeLessThan(5);
	}, 400_000);

	/**
	 * The headers that HTTP can carry.
	 * @param {Record<string, unknown>} headers
	 */
	function sendable({ host, ...headers }) {
		/** @type {Array<[string, string]>} */
		const kept = [];
		for (const [name, value] of Object.entries(headers))
			if (typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value))
				kept.push([name, value]);
		return Object.fromEntries(kept);
	}

	it('are in the log as a few lines, with the reason', () => {
		const lines = pair.n8n.readLog().split('\n');
		const refusals = lines.filter((line) => line.includes('refused a callback'));
		expect(refusals.length).toBeGreaterThan(3);
		expect(refusals.length).toBeLessThan(80);
		expect(refusals.join('\n')).toMatch(
			/401 timestampStale; \d+ s (behind|ahead of) the clock here/,
		);
	});
});

describe('one event', () => {
	it('starts the workflow once, whatever the timestamp, also after a restart of n8n', async () => {
		const { id, url } = await activeTrigger();
		const tasks = await runConcurrently(
			Array.from({ length: 10 }),
			5,
			async () => await createEndedTask(pair.service),
		);
		/** @param {string} taskId @param {number} seconds */
		const send = async (taskId, seconds) =>
			(await postJson(url, signed(taskId, { seconds }), bodyOf(taskId))).json;
		/** @param {string} taskId */
		const sendNow = async (taskId) => await send(taskId, now());
		// One after the other, and at the same time, so that n8n saves what it remembers of each over the others.
		const first = [
			...(await runConcurrently(tasks.slice(0, 3), 1, sendNow)),
			...(await runConcurrently(tasks.slice(3), 7, sendNow)),
		];
		expect(first).toEqual(tasks.map(() => EMITTED));
		for (const off of [0, -100, 100])
			expect(await send(String(tasks[0]), now() + off)).toEqual(DUPLICATE);
		await pair.n8n.restart();
		const again = await runConcurrently(tasks, 4, sendNow);
		expect(again).toEqual(tasks.map(() => DUPLICATE));
		expect((await emittedTasks(id, tasks.length)).sort()).toEqual([...tasks].sort());

		await pair.n8n.deactivate(id);
		await pair.n8n.activate(id);
		expect(await send(String(tasks[0]), now())).toEqual(EMITTED);
	});

	it('starts it once when two copies come while the details are fetched', async () => {
		const { id, url } = await activeTrigger();
		const taskId = await createEndedTask(pair.service);
		pair.service.faultNext({ path: '/api/v1/jobs/recordInfo', delaySeconds: 0.5, times: 2 });
		const copies = await Promise.all(
			[0, 1].map((off) => postJson(url, signed(taskId, { seconds: now() - off }), bodyOf(taskId))),
		);
		expect(copies.map(({ status }) => status)).toEqual([200, 200]);
		expect(copies.filter(({ json }) => json.emitted)).toHaveLength(1);
		expect(await emittedTasks(id, 1)).toEqual([taskId]);
	});

	it('is another one when a failed task completes after all', async () => {
		const { id, url } = await activeTrigger({ events: ['taskCompleted', 'taskFailed'] });
		const taskId = await createEndedTask(pair.service, { prompt: '#fail #noCallback' });
		const send = async () => (await postJson(url, signed(taskId), bodyOf(taskId))).json;
		expect([await send(), await send()]).toEqual([EMITTED, DUPLICATE]);
		Object.assign(pair.service.tasks.get(taskId) ?? {}, { state: 'success' });
		expect([await send(), await send()]).toEqual([EMITTED, DUPLICATE]);
		const executions = await pair.n8n.waitForExecutions({ workflowId: id, count: 2 });
		expect(executions.map((execution) => execution.getItems('Trigger')[0].status)).toEqual([
			'failed',
			'completed',
		]);
	});

	it('is emitted with its id alone when the details take longer than senders wait; what is not wanted is asked for again', async () => {
		const completed = await activeTrigger();
		const failed = await activeTrigger({ events: ['taskFailed'] });
		const taskId = await createEndedTask(pair.service);
		pair.service.faultNext({ path: '/api/v1/jobs/recordInfo', hang: true, times: 2 });
		const start = Date.now();
		const [wanted, unwanted] = await Promise.all(
			[completed, failed].map(({ url }) => postJson(url, signed(taskId), bodyOf(taskId))),
		);
		expect(Date.now() - start).toBeLessThan(5_000);
		expect(wanted?.json).toEqual(EMITTED);
		expect(unwanted).toMatchObject({ status: 503, json: { reason: 'detailsUnavailable' } });
		const [execution] = await pair.n8n.waitForExecutions({ workflowId: completed.id, count: 1 });
		expect(execution?.getItems('Trigger')).toEqual([
			{
				taskId,
				callback: bodyOf(taskId),
				verification: { signature: 'current', details: 'unavailable' },
			},
		]);
	});
});

describe('the previous key', () => {
	it('is named in the item, and the log says when it is no longer used', async () => {
		const { id, url } = await activeTrigger({ options: { fetchDetails: false } });
		const hint = 'clear Previous Webhook HMAC Key';
		const old = 'signed-with-the-previous-key';
		await postJson(url, signed(old, { key: PREVIOUS_KEY }), bodyOf(old));
		const [execution] = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
		expect(execution?.getItems('Trigger')[0].verification.signature).toBe('previous');
		const before = pair.n8n.readLog().split(hint).length;
		for (let index = 0; index < 20; index++) await postJson(url, signed('task'), bodyOf('task'));
		expect(pair.n8n.readLog().split(hint).length).toBe(before + 1);
	});
});

describe('a key that its owner changes while the trigger is active', () => {
	it('counts after a second at the latest, and the one before does no more', async () => {
		const name = 'Changing';
		const keyed = (/** @type {string} */ webhookSecret) => ({
			name,
			type: CREDENTIAL_TYPE,
			data: buildCredentialData(pair.service, { webhookSecret }),
		});
		const credential = await pair.n8n.createCredential(keyed(KEY));
		const { id } = await pair.n8n.importWorkflow(triggered({ options: { fetchDetails: false } }), {
			credentials: { [CREDENTIAL_TYPE]: credential },
		});
		await pair.n8n.activate(id);
		const url = await pair.n8n.getProductionWebhookUrl(id);
		const status = async (/** @type {string} */ key) =>
			(await postJson(url, signed('changed-key', { key }), bodyOf('changed-key'))).status;
		expect([await status(KEY), await status(PREVIOUS_KEY)]).toEqual([200, 401]);
		await pair.n8n.updateCredential(credential.id, keyed(PREVIOUS_KEY));
		await pause(1_000);
		expect([await status(KEY), await status(PREVIOUS_KEY)]).toEqual([401, 200]);
	});
});

describe('activating', () => {
	/** @param {object} changes */
	async function activateWith(changes) {
		const credential = await pair.n8n.createCredential({
			name: 'Changed',
			type: CREDENTIAL_TYPE,
			data: buildCredentialData(pair.service, { webhookSecret: KEY, ...changes }),
		});
		const { id } = await pair.n8n.importWorkflow(triggered(), {
			credentials: { [CREDENTIAL_TYPE]: credential },
		});
		await pair.n8n.activate(id);
	}

	it('is stopped by a wrong token, with what to do', async () => {
		await expect(activateWith({ accessToken: 'wrong' })).rejects.toThrow(
			'The service does not accept the access token',
		);
	});

	it.each([
		['a service that is not there', { baseUrl: 'http://127.0.0.1:9' }, "can't be reached"],
		['a service that is troubled', {}, 'internal fault'],
	])('is not stopped by %s, which is logged', async (_, changes, said) => {
		pair.service.faultNext({ path: '/api/v1/chat/credit', status: 500 });
		await activateWith(changes);
		const line = pair.n8n
			.readLog()
			.split('\n')
			.filter((one) => one.includes('The trigger is active, but'))
			.at(-1);
		expect(line).toContain(said);
	});
});

describe('kill -9 while callbacks come in', () => {
	it('loses none: what was answered 200 is stored, what was not is sent again and runs once', async () => {
		const workflow = triggered();
		const [set] = chain('Unused', [
			{
				name: 'Next',
				type: 'n8n-nodes-base.set',
				typeVersion: 3.4,
				parameters: { mode: 'raw', jsonOutput: '={{ { taskId: $json.taskId } }}', options: {} },
			},
		]).nodes.slice(1);
		workflow.nodes.push(/** @type {any} */ (set));
		workflow.connections = { Trigger: { main: [[{ node: 'Next', type: 'main', index: 0 }]] } };
		const { id } = await pair.n8n.importWorkflow(workflow, pair.credentials);
		await pair.n8n.activate(id);
		const callBackUrl = await pair.n8n.getProductionWebhookUrl(id);

		pair.service.set({ callbackRetrySeconds: [1, ...Array.from({ length: 60 }, () => 2)] });
		const tasks = await runConcurrently(
			Array.from({ length: 20 }),
			20,
			async () => await createEndedTask(pair.service, { prompt: '', callBackUrl }),
		);
		/** @param {string} taskId */
		const attempts = (taskId) => pair.service.tasks.get(taskId)?.callbacks ?? [];
		const answered = () =>
			tasks.filter((taskId) => attempts(taskId).some(({ status }) => status === 200));
		while (answered().length < 4) await pause(5);
		await pair.n8n.kill();
		// What was answered may still be on its way; the first copies come after a second.
		await pause(500);
		const before = new Set(answered());
		expect(before.size).toBeLessThan(tasks.length);
		await pair.n8n.restart();
		await pair.service.idle();
		for (const taskId of tasks) {
			expect(attempts(taskId).at(-1)?.status).toBe(200);
			for (const { headers } of attempts(taskId)) signatures.add(headers['x-webhook-signature']);
		}

		// An execution that n8n was killed in is stored as crashed, with its data: its owner can run it again.
		const stored = await storedRuns(id, tasks);
		const ran = (/** @type {string} */ taskId) =>
			stored[taskId]?.filter((status) => status === 'success').length;
		for (const taskId of before) expect(stored[taskId]).toHaveLength(1);
		// n8n saves what is remembered just before it answers; only the event that it was at then may be neither.
		const unanswered = tasks.filter((taskId) => !before.has(taskId));
		expect(unanswered.filter((taskId) => ran(taskId) !== 1).length).toBeLessThanOrEqual(1);
	});

	/**
	 * How the executions ended that n8n has stored for each task, once none runs. One that n8n was killed before it began
	 * is begun after the restart, or by older n8n never: it stays new.
	 * @param {string} workflowId
	 * @param {string[]} tasks
	 */
	async function storedRuns(workflowId, tasks) {
		const begun = Date.now() + 10_000;
		const open = () => (Date.now() < begun ? ['new', 'running'] : ['running']);
		while ((await pair.n8n.listExecutions({ workflowId, status: open() })).length) await pause(100);
		/** @type {Record<string, string[]>} */
		const stored = Object.fromEntries(tasks.map((taskId) => [taskId, []]));
		for (const { id } of await pair.n8n.listExecutions({ workflowId })) {
			const { data: nested, status } = await pair.n8n.getExecution(id);
			const data = JSON.stringify(nested);
			for (const taskId of tasks) if (data.includes(taskId)) stored[taskId]?.push(status);
		}
		return stored;
	}
});

describe('what must stay secret', () => {
	it("is nowhere in n8n's database and log: no token, no key, no signature, no body that was refused", async () => {
		const folder = path.join(pair.n8n.folder, '.n8n');
		const files = fs
			.readdirSync(folder)
			.filter((name) => /^database\.sqlite|\.log$/.test(name))
			.map((name) => path.join(folder, name));
		expect(files.length).toBeGreaterThan(0);
		const kept = [...files, path.join(pair.n8n.folder, 'n8n.log')].map((file) => ({
			file: path.basename(file),
			bytes: fs.readFileSync(file),
		}));
		expect(signatures.size).toBeGreaterThan(50);
		const found = [TOKEN, KEY, PREVIOUS_KEY, MARK, ...signatures].flatMap((secret) =>
			kept.filter(({ bytes }) => bytes.includes(secret)).map(({ file }) => `${secret} in ${file}`),
		);
		expect(found).toEqual([]);
		// So that the search is known to find: what an item has is there.
		expect(kept.some(({ bytes }) => bytes.includes('signed-with-the-previous-key'))).toBe(true);
	});
});
