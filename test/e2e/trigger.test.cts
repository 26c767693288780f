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
	runConcurrently,
} from '../../dev/fixtures/callbacks.cts';
import { CREDENTIAL_TYPE, TOKEN } from '../../dev/fixtures/pair.cts';
import {
	chain,
	connect,
	generate,
	editSample,
	httpRequest,
	mediaGeneration,
	NODE,
	setJson,
	triggered,
} from '../../dev/fixtures/workflows.cts';
import { WITHOUT_CODE } from '../../dev/n8n/process.cts';
import { signHeaders } from '../../dev/service/signHeaders.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { isOldest, usePair } from './support.cts';

const KEY = 'whk-current-5f1c9a';
const PREVIOUS_KEY = 'whk-previous-77ab02';
/** Is in bodies that are refused; nothing of them may be kept. */
const MARK = 'refused-body-mark-31d2';

type ByteCase = [
	name: string,
	status: number,
	/** Absent: n8n answers, or it is accepted. */
	reason: string | undefined,
	headers: Record<string, string>,
	body: string | Buffer,
];

const pair = usePair({
	service: { taskSeconds: 0.05, webhookSecret: KEY, costPerTask: 0 },
	// With lazy isolates n8n answers thousands of callbacks in a quarter of the time. Other suites run it as it comes.
	env: {
		...WITHOUT_CODE,
		N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true',
		N8N_ENDPOINT_WEBHOOK_WAIT: 'go-on',
		// n8n's own guard against requests into its network, with a way to the emulator.
		N8N_SSRF_PROTECTION_ENABLED: 'true',
		N8N_SSRF_ALLOWED_IP_RANGES: '127.0.0.1/32',
	},
	credential: { previousWebhookSecret: PREVIOUS_KEY },
	keeps: true,
});

/** Sends a genuine callback, and returns what it is answered. */
const send = async (url: string, taskId: string) =>
	parseAnswer((await pair.service.callback(taskId, { url })).body);

/** A genuine signature that was sent by hand. */
let signature: string;

it("any bytes get n8n's answer where n8n can't read them, else ours, with a line in the log for each reason, and one genuine callback starts the workflow once", async () => {
	const { id, url } = await pair.activateTrigger();
	const taskId = await createEndedTask(pair.service);
	const body = { taskId, code: 200, msg: 'success', data: { task_id: taskId } };
	const json = JSON.stringify(body);
	const good = { 'content-type': 'application/json', ...signHeaders(body, KEY) };
	signature = good['x-webhook-signature'];
	const typed = (type: string) => ({ ...good, 'content-type': type });
	const coded = (coding: string) => ({ ...good, 'content-encoding': coding });
	const timed = (value: string) => ({ ...good, 'x-webhook-timestamp': value });
	const forged = { ...good, ...signHeaders(body, 'guess') };
	// prettier-ignore
	const table: ByteCase[] = [
		['JSON', 200, undefined, good, json],
		['JSON by the suffix of its type', 400, 'bodyNotAnObject', typed('application/task+json'), json],
		['gzip', 200, undefined, coded('gzip'), zlib.gzipSync(json)],
		['UTF-16, named', 200, undefined, typed('application/json; charset=utf-16le'), Buffer.from(json, 'utf16le')],
		['a forged signature', 401, 'signatureWrong', forged, json],
		['an old timestamp', 401, 'timestampStale', timed('1700000000'), json],
		['nothing', 400, 'bodyNotAnObject', good, ''],
		['bytes that are not UTF-8', 400, 'taskIdMissing', good, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
		['a form', 400, 'bodyNotAnObject', typed('application/x-www-form-urlencoded'), `taskId=${taskId}&data[task_id]=${taskId}`],
		['XML', 400, 'bodyNotAnObject', typed('application/xml'), `<data><task_id>${taskId}</task_id></data>`],
		['multipart', 400, 'bodyNotAnObject', typed('multipart/form-data; boundary=x'), `--x\r\ncontent-disposition: form-data; name="task_id"\r\n\r\n${taskId}\r\n--x--\r\n`],
		['14 MB', 400, 'taskIdMissing', good, `{"x":"${'a'.repeat(14 << 20)}"}`],
		['JSON cut short (n8n)', 422, undefined, good, `{"x":"${MARK}${json}`],
		['64 MB in gzip (n8n)', 500, undefined, coded('gzip'), zlib.gzipSync(Buffer.alloc(64 << 20, ' '))],
		['17 MB (n8n)', 500, undefined, good, `{"x":"${'a'.repeat(17 << 20)}"}`],
	];
	const answers = [];
	for (const [name, , , headers, body] of table) {
		const { status, text } = await post(url, headers, body);
		const isOurs = text.startsWith('{"accepted":false');
		answers.push([name, status, isOurs ? parseAnswer(text).reason : undefined]);
	}
	expect(answers).toEqual(table.map(([name, status, reason]) => [name, status, reason]));
	// Newer n8n skip a byte order mark, older ones can't read on.
	expect([200, 422]).toContain((await post(url, good, `\ufeff${json}`)).status);
	expect(await pair.waitForTriggered(id)).toMatchObject([{ taskId }]);

	const lines = pair.n8n.readLog().split('\n');
	const refusals = lines.filter((line) => line.includes('refused a callback'));
	const reasons = table.flatMap(([, , reason]) => reason ?? []);
	for (const reason of reasons) expect(refusals.join('\n')).toContain(reason);
	expect(refusals.length).toBeLessThan(reasons.length);
	expect(refusals.join('\n')).toMatch(/401 timestampStale; \d+ s behind the clock here/);
});

it('kill -9 while callbacks come in loses none: what was answered 200 is stored, and remembered, and the others are sent again', async () => {
	const next = setJson('Next', '{ taskId: $json.taskId }');
	const { id, url } = await pair.activate(connect('Next', [...triggered().nodes, next]));

	pair.service.set({ callbackRetrySeconds: [1, ...Array<number>(60).fill(2)] });
	const order = { prompt: '', callBackUrl: url };
	const create = async () => await createEndedTask(pair.service, order);
	const tasks = await Promise.all(Array.from({ length: 20 }, create));
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
			expect(await send(url, taskId)).toMatchObject({ accepted: true });
	for (const taskId of before)
		expect(await send(url, taskId)).toMatchObject({ emitted: false, reason: 'duplicate' });

	// An execution that n8n was killed in is stored as crashed, with its data: its owner can run it again.
	const executions = await pair.n8n.listExecutions({ workflowId: id });
	const stored = await runConcurrently(executions, 1, async (one) => {
		return JSON.stringify((await pair.n8n.getExecution(one.id)).data);
	});
	const count = (taskId: string) => stored.filter((data) => data.includes(taskId)).length;
	for (const taskId of before) expect(count(taskId)).toBe(1);
	// n8n saves what is remembered just before it answers, so events that it was at may run twice.
	for (const taskId of tasks) expect([1, 2]).toContain(count(taskId));
});

it('remembers an event when an edited version of its workflow is published', async () => {
	const { id, url } = await pair.activateTrigger();
	const taskId = await createEndedTask(pair.service);
	expect(await send(url, taskId)).toMatchObject({ emitted: true });
	const { nodes, ...workflow } = await pair.n8n.getWorkflow(id);
	const edited = nodes.map((node) => ({
		...node,
		parameters: { ...node.parameters, events: ['taskCompleted', 'taskFailed'] },
	}));
	await pair.n8n.importWorkflow({ ...workflow, nodes: edited }, { replaces: id });
	await pair.n8n.activate(id);
	expect(await send(url, taskId)).toMatchObject({ emitted: false, reason: 'duplicate' });
	// The edited version is the one that runs.
	const failed = await createEndedTask(pair.service, { prompt: '#fail #noCallback' });
	expect(await send(url, failed)).toMatchObject({ emitted: true });
	const tasks = await pair.waitForTriggered(id, 2);
	expect(tasks.map((task) => task.taskId)).toEqual([taskId, failed]);
});

it('keeps a previous key in the credential, whose field is not shown, and shows it to nobody', async () => {
	const { id } = await pair.createCredential({ previousWebhookSecret: 'a-previous-key' });
	const url = `/rest/credentials/${id}?includeData=true`;
	const saved = JSON.stringify(await pair.n8n.request('GET', url));
	expect(saved).toContain('previousWebhookSecret');
	expect(saved).not.toContain('a-previous-key');
});

it("n8n's HTTP Request node sends the token of our credential to the service only, also when that redirects", async () => {
	const { url, resultsUrl, leaks, requests } = pair.service;
	const sample = `${resultsUrl}/sample.png`;
	const parameters = {
		authentication: 'predefinedCredentialType',
		nodeCredentialType: CREDENTIAL_TYPE,
		options: { redirect: { redirect: { followRedirects: true, maxRedirects: 5 } } },
	};
	// The oldest n8n that the package works with has none newer than 4.4.
	const typeVersion = isOldest ? 4.4 : 4.5;
	const more = { typeVersion, credentials: { [CREDENTIAL_TYPE]: {} } };
	const request = async (url: string, others?: object) =>
		await pair.runNodes(httpRequest({ url, ...parameters, ...others }, more));
	const credits = `${url}/api/v1/chat/credit`;
	expect((await request(sample)).readError()).toContain("only sent to 'Base URL'");
	const { length } = requests;
	const leadsAway = async (header: object) =>
		await request(credits, {
			sendHeaders: true,
			specifyHeaders: 'json',
			jsonHeaders: JSON.stringify(header),
		});
	for (const header of [{ ' hOsT': 'evil.example' }, { common: { Host: 'evil.example' } }])
		expect((await leadsAway(header)).readError()).toContain("Remove the header 'Host'");
	const repeated = await request(credits, { method: 'TRACE' });
	expect(repeated.readError()).toContain('only sent with the methods GET');
	expect(requests).toHaveLength(length);
	pair.service.faultNext({ location: sample });
	const redirected = await request(credits);
	expect(redirected.status).toBe('success');
	expect(redirected.getOutput('Request')[0]?.binary?.data?.mimeType).toBe('image/png');
	expect(requests).toHaveLength(length + 1);
	expect(leaks).toEqual([]);
});

it('a reference of Start Without Waiting comes back with its task in the URL that the service calls, whatever stands in it', async () => {
	const { id, url } = await pair.activateTrigger();
	const given = {
		' two\nlines 🦊 & "quotes" ?#%20': ' two\nlines 🦊 & "quotes" ?#%20',
		'={{ { chat: -100123, name: "Ä" } }}': '{"chat":-100123,"name":"Ä"}',
		'={{ -1001234567890 }}': '-1001234567890',
	};
	const expected = new Map<unknown, string>();
	for (const [reference, text] of Object.entries(given)) {
		const parameters = { operation: 'start', prompt: '', callbackUrl: `${url}?a=1` };
		const node = editSample(pair.service.resultsUrl, { ...parameters, options: { reference } });
		const execution = await pair.runNodes(node);
		expected.set(execution.getItems<Task>(NODE)[0]?.taskId, text);
	}
	const output = await pair.waitForTriggered(id, expected.size);
	const found = output.map((json) => [json.taskId, (json as { reference?: string }).reference]);
	expect(new Map(found as Array<[string, string]>)).toEqual(expected);
	const called = pair.listTasks().filter(({ taskId }) => expected.has(taskId));
	for (const { callBackUrl } of called)
		expect(callBackUrl).toMatch(/\?a=1&reference=[\w-]+\.[\w-]{43}$/);
	// Neither the item nor the log has the URL with its query.
	expect(JSON.stringify(output)).not.toContain('reference=');
	expect(pair.n8n.readLog()).not.toContain('reference=');
});

it('a task and its callback work in nodes of version 1, and by the test URL', async () => {
	const workflow = triggered();
	for (const node of workflow.nodes) node.typeVersion = 1;
	const { id } = await pair.importWorkflow(workflow);
	const callbackUrl = await pair.n8n.listenForTestEvent(id);
	const parameters = { operation: 'start', prompt: '', callbackUrl };
	const node = editSample(pair.service.resultsUrl, parameters, { typeVersion: 1 });
	const [created] = (await pair.runNodes(node)).getItems(NODE);
	const completed = { taskId: created?.taskId, status: 'completed' };
	expect(await pair.waitForTriggered(id)).toMatchObject([completed]);
});

// The oldest n8n has no such guard.
(isOldest ? it.skip : it)(
	"n8n's own guard blocks an address in its network, and the error says that nothing was sent",
	async () => {
		const credential = await pair.createCredential({ baseUrl: 'http://10.11.12.13' });
		const error = (await pair.run(chain('Guarded', [generate()]), { credential })).readError();
		expect(error).toMatch(/SSRF protection blocks that address.*Nothing was sent/s);
		expect(error).not.toContain('may have been paid for');
	},
);

it("a service's record has no token of the execution's resume URL, whatever n8n's path for it, also where the prompt repeats it", async () => {
	const get = { operation: 'get', taskId: '={{ $json.taskId }}', simplify: false };
	const execution = await pair.runNodes(
		generate({ anyInput: "={{ { prompt: 'To go on: ' + $execution.resumeUrl } }}" }),
		{ ...mediaGeneration(get), name: 'Get' },
	);
	const { callBackUrl, input } = pair.listTasks().at(-1) ?? {};
	const { href, search, searchParams } = new URL(String(callBackUrl));
	// Other nodes of the execution have the same URL without our own segment.
	expect(input?.prompt).toBe(`To go on: ${href.replace('/media-generation', '')}`);
	expect(searchParams.get('signature')).toMatch(/^\w{32,}$/);
	const [record] = execution.getItems<{ param: string }>('Get');
	const sent = JSON.parse(record?.param ?? '') as object;
	const bare = href.replace(search, '');
	expect(bare).toContain('/go-on/');
	const prompt = `To go on: ${bare.replace('/media-generation', '')}?signature=***`;
	expect(sent).toMatchObject({ callBackUrl: `${bare}?***`, input: { prompt } });
	expect(JSON.stringify(record)).not.toContain(searchParams.get('signature'));
});

it("no secret is in n8n's database or log, or was sent to the hosts of results: no token, key, signature, or body that was refused", () => {
	const { folder } = pair.n8n.options;
	const files = fs
		.readdirSync(path.join(folder, '.n8n'))
		.filter((name) => /^database\.sqlite|\.log$/.test(name));
	expect(files.length).toBeGreaterThan(0);
	const kept = ['n8n.log', ...files.map((name) => path.join('.n8n', name))].map((file) => ({
		file,
		bytes: fs.readFileSync(path.join(folder, file)),
	}));
	const sent = pair
		.listTasks()
		.flatMap(({ callbacks }) => callbacks)
		// Some are sent without a signature.
		.flatMap(({ headers }) => headers['x-webhook-signature'] ?? []);
	expect(sent.length).toBeGreaterThan(20);
	const found = [TOKEN, KEY, PREVIOUS_KEY, MARK, signature, ...sent].flatMap((secret) =>
		kept.filter(({ bytes }) => bytes.includes(secret)).map(({ file }) => `${secret} in ${file}`),
	);
	expect(found).toEqual([]);
	expect(pair.service.leaks).toEqual([]);
	// An item's own data is found, so the search works.
	const [taskId = ''] = pair.listIds();
	expect(kept.some(({ bytes }) => bytes.includes(taskId))).toBe(true);
});
