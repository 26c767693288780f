import { expect } from '@jest/globals';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import zlib from 'node:zlib';
import {
	createEndedTask,
	isFromStart,
	parseAnswer,
	post,
	postJson,
	runConcurrently,
} from '../../dev/fixtures/callbacks.cts';
import { buildCredentialData, CREDENTIAL_TYPE, TOKEN } from '../../dev/fixtures/pair.cts';
import { connect, triggered } from '../../dev/fixtures/workflows.cts';
import type { CallbackOverrides } from '../../dev/service/index.cts';
import { callbackCases } from '../../dev/fixtures/callbackCases.cts';
import { usePair } from './support.cts';

const KEY = 'whk-current-5f1c9a';
const PREVIOUS_KEY = 'whk-previous-77ab02';
/** Is in bodies that are refused; nothing of them may be kept. */
const MARK = 'refused-body-mark-31d2';

type ByteCase = [
	name: string,
	status: number,
	reason: string | undefined,
	headers: Record<string, string | string[]>,
	body: string | Buffer,
];

/** Genuine signatures that were sent by hand. */
const signatures: string[] = [];

const pair = usePair({
	service: { taskSeconds: 0.05, webhookSecret: KEY, costPerTask: 0 },
	// With lazy isolates n8n answers thousands of callbacks in a quarter of the time. Other suites run it as it comes.
	n8n: { env: { N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' } },
	credential: { previousWebhookSecret: PREVIOUS_KEY },
	keeps: true,
});

const readClock = () => Math.floor(Date.now() / 1000);

/** Sends a genuine callback. */
async function send(url: string, taskId: string, overrides?: CallbackOverrides) {
	const { status, body } = await pair.service.callback(taskId, { url, ...overrides });
	return { status, json: parseAnswer(body) };
}

const createEndedTasks = async (count: number, options?: Parameters<typeof createEndedTask>[1]) =>
	await runConcurrently(
		Array.from({ length: count }),
		20,
		async () => await createEndedTask(pair.service, options),
	);

/**
 * Returns the IDs of the tasks that the executions of a workflow got, in their order, once there are `count`; those that crashed
 * too.
 */
async function waitForTasks(workflowId: string, count: number) {
	return (await pair.waitForTriggered(workflowId, count)).map(({ taskId }) => taskId);
}

const EMITTED = { accepted: true, emitted: true };
const DUPLICATE = { accepted: true, emitted: false, reason: 'duplicate' };

describe('every form of a callback that has a name', () => {
	it('gets the answer of the table, and only the first genuine one starts the workflow', async () => {
		const { id, url } = await pair.activateTrigger();
		const taskId = await createEndedTask(pair.service);
		const subject = { taskId, seconds: readClock(), key: KEY, previousKey: PREVIOUS_KEY };
		const table = callbackCases(subject);
		const answers = [];
		for (const { name, headers, body, status: expected } of table) {
			const { status, json } = await postJson(url, headers, body);
			answers.push([name, status, json]);
			if (expected === 200) signatures.push(String(headers['x-webhook-signature']));
		}
		expect(answers).toEqual(
			table.map(({ name, status, reason }) => [
				name,
				status,
				status === 200
					? expect.objectContaining({ accepted: true })
					: { accepted: false, reason, message: expect.any(String) },
			]),
		);
		expect(await waitForTasks(id, 1)).toEqual([taskId]);
	});

	it("gets an answer as bytes too: n8n's where n8n can't read them, else ours", async () => {
		const { id, url } = await pair.activateTrigger();
		const taskId = await createEndedTask(pair.service);
		const timestamp = String(readClock());
		const signature = pair.service.sign(taskId, Number(timestamp));
		signatures.push(signature);
		const good = {
			'content-type': 'application/json',
			'x-webhook-timestamp': timestamp,
			'x-webhook-signature': signature,
		};
		const json = JSON.stringify({ taskId, code: 200, msg: 'success', data: { task_id: taskId } });
		const typed = (type: string) => ({ ...good, 'content-type': type });
		const coded = (coding: string) => ({ ...good, 'content-encoding': coding });
		const inCapitals = Object.fromEntries(
			Object.entries(good).map(([name, value]) => [name.toUpperCase(), value]),
		);
		// prettier-ignore
		const table: ByteCase[] = [
			['JSON', 200, undefined, good, json],
			['JSON by the suffix of its type', 200, undefined, typed('application/task+json'), json],
			['that JSON, cut short', 400, 'bodyNotAnObject', typed('application/task+json'), `{"x":"${MARK}${json}`],
			['gzip', 200, undefined, coded('gzip'), zlib.gzipSync(json)],
			['deflate', 200, undefined, coded('deflate'), zlib.deflateSync(json)],
			['UTF-16, named', 200, undefined, typed('application/json; charset=utf-16le'), Buffer.from(json, 'utf16le')],
			['header names in capitals', 200, undefined, inCapitals, json],
			['the timestamp in two headers', 401, 'timestampMalformed', { ...good, 'x-webhook-timestamp': [timestamp, timestamp] }, json],
			['the signature in two headers', 401, 'signatureWrong', { ...good, 'x-webhook-signature': [signature, signature] }, json],
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
			['an unknown charset (n8n)', 422, undefined, typed('application/json; charset=klingon'), json],
			['XML cut short (n8n)', 422, undefined, typed('application/xml'), '<data'],
			['gzip that is none (n8n)', 500, undefined, coded('gzip'), json],
			['64 MB in gzip (n8n)', 500, undefined, coded('gzip'), zlib.gzipSync(Buffer.alloc(64 << 20, ' '))],
			['17 MB (n8n)', 500, undefined, good, `{"x":"${'a'.repeat(17 << 20)}"}`],
		];
		const answers = [];
		for (const [name, , , headers, body] of table) {
			const { status, json } = await post(url, { headers, body });
			// Versions of n8n differ in how much of multipart is left to us.
			const isOurs = status !== 200 && !name.endsWith('(n8n)');
			answers.push([name, status, isOurs ? json?.reason : undefined]);
		}
		expect(answers).toEqual(table.map(([name, status, reason]) => [name, status, reason]));
		// Newer n8n skip a byte order mark, older ones can't read on.
		const marked = await post(url, { headers: good, body: `\ufeff${json}` });
		expect([200, 422]).toContain(marked.status);
		expect(await waitForTasks(id, 1)).toEqual([taskId]);
	});

	it('is refused with a few lines in the log, with the reason', () => {
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
	it('starts the workflow once, whatever the timestamp', async () => {
		const { id, url } = await pair.activateTrigger();
		const tasks = await createEndedTasks(10);
		const [first = ''] = tasks;
		const notify = async (taskId: string, seconds?: number) =>
			(await send(url, taskId, { timestamp: seconds })).json;
		// One after the other, and at the same time, so that n8n saves what it remembers of each over the others.
		const answers = [
			...(await runConcurrently(tasks.slice(0, 3), 1, async (taskId) => await notify(taskId))),
			...(await runConcurrently(tasks.slice(3), 7, async (taskId) => await notify(taskId))),
		];
		expect(answers).toEqual(tasks.map(() => EMITTED));
		for (const offset of [0, -100, 100])
			expect(await notify(first, readClock() + offset)).toEqual(DUPLICATE);
		expect((await waitForTasks(id, tasks.length)).sort()).toEqual([...tasks].sort());

		await pair.n8n.deactivate(id);
		await pair.n8n.activate(id);
		expect(await notify(first)).toEqual(EMITTED);
	});
});

describe('a key that its owner changes while the trigger is active', () => {
	it('is used after a second at the latest, and the one before no longer', async () => {
		const { n8n } = pair;
		const credential = await pair.createCredential({ webhookSecret: KEY });
		const workflow = triggered({ options: { fetchDetails: false } });
		const { url } = await pair.activate(workflow, { credential });
		const taskId = await createEndedTask(pair.service);
		const readStatuses = async () =>
			await runConcurrently(
				[KEY, PREVIOUS_KEY],
				1,
				async (secret) => (await send(url, taskId, { secret })).status,
			);
		expect(await readStatuses()).toEqual([200, 401]);
		await n8n.updateCredential(credential.id, {
			name: credential.name,
			type: CREDENTIAL_TYPE,
			data: buildCredentialData(pair.service, { webhookSecret: PREVIOUS_KEY }),
		});
		await pause(1_000);
		expect(await readStatuses()).toEqual([401, 200]);
	});
});

describe('kill -9 while callbacks come in', () => {
	it('loses none: what was answered 200 is stored, and remembered, and the others are sent again', async () => {
		const next = {
			name: 'Next',
			type: 'n8n-nodes-base.set',
			typeVersion: 3.4,
			parameters: { mode: 'raw', jsonOutput: '={{ { taskId: $json.taskId } }}', options: {} },
		};
		const { id, url } = await pair.activate(connect('Next', [...triggered().nodes, next]));

		pair.service.set({ callbackRetrySeconds: [1, ...Array.from({ length: 60 }, () => 2)] });
		const tasks = await createEndedTasks(20, { prompt: '', callBackUrl: url });
		const listAttempts = (taskId: string) => pair.service.tasks.get(taskId)?.callbacks ?? [];
		const listAnswered = () =>
			tasks.filter((taskId) => listAttempts(taskId).some(({ status }) => status === 200));
		while (listAnswered().length < 2) await pause(5);
		await pair.n8n.kill();
		// An answer may still be on its way; the first copies come after a second.
		await pause(500);
		const before = new Set(listAnswered());
		expect(before.size).toBeLessThan(tasks.length);
		await pair.n8n.restart();
		await pair.service.idle();
		for (const taskId of tasks) expect(listAttempts(taskId).at(-1)?.status).toBe(200);
		// A sender doesn't repeat these, so a person does.
		for (const taskId of tasks)
			if (isFromStart(listAttempts(taskId).at(-1)?.answer))
				expect((await send(url, taskId)).json).toMatchObject({ accepted: true });
		for (const taskId of before) expect((await send(url, taskId)).json).toEqual(DUPLICATE);

		// An execution that n8n was killed in is stored as crashed, with its data: its owner can run it again.
		const stored = await findStoredRuns(id, tasks);
		for (const taskId of before) expect(stored.get(taskId)).toHaveLength(1);
		// n8n saves what is remembered just before it answers, so events that it was at may run twice.
		for (const taskId of tasks) expect([1, 2]).toContain(stored.get(taskId)?.length);
	});

	/**
	 * Returns how the stored executions of each task ended, once none runs. One that n8n was killed before it began is begun
	 * after the restart, or by older n8n never: it stays new.
	 */
	async function findStoredRuns(workflowId: string, tasks: string[]) {
		const begun = Date.now() + 10_000;
		const listOpen = async () =>
			await pair.n8n.listExecutions({
				workflowId,
				status: Date.now() < begun ? ['new', 'running'] : ['running'],
			});
		while ((await listOpen()).length > 0) await pause(100);
		const stored = new Map(tasks.map((taskId): [string, string[]] => [taskId, []]));
		for (const { id } of await pair.n8n.listExecutions({ workflowId })) {
			const { data: nested, status } = await pair.n8n.getExecution(id);
			const data = JSON.stringify(nested);
			for (const [taskId, statuses] of stored) if (data.includes(taskId)) statuses.push(status);
		}
		return stored;
	}
});

describe('what must stay secret', () => {
	it("is nowhere in n8n's database and log: no token, key, signature, or body that was refused", () => {
		const folder = path.join(pair.n8n.options.folder, '.n8n');
		const files = fs
			.readdirSync(folder)
			.filter((name) => /^database\.sqlite|\.log$/.test(name))
			.map((name) => path.join(folder, name));
		expect(files.length).toBeGreaterThan(0);
		const kept = [...files, path.join(pair.n8n.options.folder, 'n8n.log')].map((file) => ({
			file: path.basename(file),
			bytes: fs.readFileSync(file),
		}));
		const sent = pair
			.listTasks()
			.flatMap(({ callbacks }) => callbacks)
			.map(({ headers }) => String(headers['x-webhook-signature']));
		expect(sent.length).toBeGreaterThan(20);
		const found = [TOKEN, KEY, PREVIOUS_KEY, MARK, ...signatures, ...sent].flatMap((secret) =>
			kept.filter(({ bytes }) => bytes.includes(secret)).map(({ file }) => `${secret} in ${file}`),
		);
		expect(found).toEqual([]);
		// An item's own data is found, so the search works.
		expect(kept.some(({ bytes }) => bytes.includes(String(pair.listTasks()[0]?.taskId)))).toBe(
			true,
		);
	});
});
