import { expect } from '@jest/globals';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { createEndedTask, parseAnswer, post } from '../../dev/fixtures/callbacks.cts';
import { CREDENTIAL_TYPE, TOKEN } from '../../dev/fixtures/pair.cts';
import {
	chain,
	generate,
	editSample,
	buildHttpRequest,
	buildMediaGeneration,
	NODE,
	buildTriggered,
} from '../../dev/fixtures/workflows.cts';
import { WITHOUT_CODE } from '../../dev/n8n/process.cts';
import { SIGNATURE, signHeaders } from '../../dev/service/signHeaders.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { isOldest, usePair } from './support.cts';

const KEY = 'whk-current-5f1c9a';
const PREVIOUS_KEY = 'whk-previous-77ab02';
/** A text in bodies that are refused. Nothing of such a body may be stored. */
const MARK = 'refused-body-mark-31d2';

type ByteCase = [
	name: string,
	status: number,
	/** Absent: n8n answers, or the callback is accepted. */
	reason: string | undefined,
	headers: Record<string, string>,
	body: string | Buffer,
];

const pair = usePair({
	service: { taskSeconds: 0.05, webhookSecret: KEY, costPerTask: 0 },
	env: {
		...WITHOUT_CODE,
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
	parseAnswer((await pair.service.sendCallback(taskId, { url })).body);

/** A genuine signature that a test has sent. */
let signature: string;

it("any bytes get n8n's answer where n8n can't read them, else ours, with a line in the log for each reason, and one genuine callback starts the workflow once", async () => {
	const { id, url } = await pair.activateTrigger();
	const taskId = await createEndedTask(pair.service);
	const body = { taskId, code: 200, msg: 'success', data: { task_id: taskId } };
	const json = JSON.stringify(body);
	const good = { 'content-type': 'application/json', ...signHeaders(body, KEY) };
	signature = good[SIGNATURE];
	const typed = (type: string) => ({ ...good, 'content-type': type });
	const coded = (coding: string) => ({ ...good, 'content-encoding': coding });
	const forged = { ...good, ...signHeaders(body, 'guess') };
	// prettier-ignore
	const table: ByteCase[] = [
		['JSON', 200, undefined, good, json],
		['gzip', 200, undefined, coded('gzip'), zlib.gzipSync(json)],
		['a forged signature', 401, 'signatureWrong', forged, json],
		['bytes that are not UTF-8', 400, 'taskIdMissing', good, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
		['multipart', 400, 'bodyNotAnObject', typed('multipart/form-data; boundary=x'), `--x\r\ncontent-disposition: form-data; name="task_id"\r\n\r\n${taskId}\r\n--x--\r\n`],
		['JSON cut short (n8n)', 422, undefined, good, `{"x":"${MARK}${json}`],
		['17 MB (n8n)', 500, undefined, good, `{"x":"${'a'.repeat(17 << 20)}"}`],
	];
	const answers = [];
	for (const [name, , , headers, body] of table) {
		const { status, text } = await post(url, headers, body);
		const isOurs = text.startsWith('{"accepted":false');
		answers.push([name, status, isOurs ? parseAnswer(text).reason : undefined]);
	}
	expect(answers).toEqual(table.map(([name, status, reason]) => [name, status, reason]));
	expect(await pair.waitForTriggered(id)).toMatchObject([{ taskId }]);

	const log = pair.n8n.readLog();
	for (const [, status, reason] of table)
		if (reason) expect(log).toMatch(new RegExp(`refused a callback.*${status} ${reason}`));
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
	// The edited version runs.
	const failed = await createEndedTask(pair.service, '#fail #noCallback');
	expect(await send(url, failed)).toMatchObject({ emitted: true });
	const tasks = await pair.waitForTriggered(id, 2);
	expect(tasks.map((task) => task.taskId)).toEqual([taskId, failed]);
});

it("n8n's HTTP Request node sends the token of our credential to the service only, also when that redirects", async () => {
	const { url, filesUrl, leaks, requests } = pair.service;
	const sample = `${filesUrl}/sample.png`;
	const parameters = {
		authentication: 'predefinedCredentialType',
		nodeCredentialType: CREDENTIAL_TYPE,
		options: { redirect: { redirect: { followRedirects: true, maxRedirects: 5 } } },
	};
	// The oldest n8n that the package works with has none newer than 4.4.
	const typeVersion = isOldest ? 4.4 : 4.5;
	const more = { typeVersion, credentials: { [CREDENTIAL_TYPE]: {} } };
	const request = async (url: string) =>
		await pair.runNodes(buildHttpRequest({ url, ...parameters }, more));
	expect((await request(sample)).readError()).toContain("only sent to 'Base URL'");
	const { length } = requests;
	pair.service.addFault({ location: sample });
	const redirected = await request(`${url}/api/v1/chat/credit`);
	expect(redirected.status).toBe('success');
	expect(redirected.getOutput('Request')[0]?.binary?.data?.mimeType).toBe('image/png');
	expect(requests).toHaveLength(length + 1);
	expect(leaks).toEqual([]);
});

it('a reference of Start Without Waiting comes back with its task in the URL that the service calls, whatever stands in it', async () => {
	const { id, url } = await pair.activateTrigger();
	const reference = ' two\nlines 🦊 & "quotes" ?#%20';
	const parameters = { operation: 'start', prompt: '', callbackUrl: `${url}?a=1` };
	const node = editSample(pair.service.filesUrl, { ...parameters, options: { reference } });
	const [created] = (await pair.runNodes(node)).getItems<Task>(NODE);
	const output = await pair.waitForTriggered(id);
	expect(output).toMatchObject([{ taskId: created?.taskId, reference }]);
	const { callBackUrl } = pair.listTasks().at(-1) ?? {};
	expect(callBackUrl).toMatch(/\?a=1&reference=[\w-]+\.[\w-]{43}$/);
	// Neither the item nor the log has the URL with its query.
	expect(JSON.stringify(output)).not.toContain('reference=');
	expect(pair.n8n.readLog()).not.toContain('reference=');
});

it('a task and its callback work by the test URL', async () => {
	const { id } = await pair.importWorkflow(buildTriggered());
	const callbackUrl = await pair.n8n.listenForTestEvent(id);
	const parameters = { operation: 'start', prompt: '', callbackUrl };
	const node = editSample(pair.service.filesUrl, parameters);
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
		{ ...buildMediaGeneration(get), name: 'Get' },
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
	const stored = ['n8n.log', ...files.map((name) => path.join('.n8n', name))].map((file) => ({
		file,
		bytes: fs.readFileSync(path.join(folder, file)),
	}));
	const sent = pair
		.listTasks()
		.flatMap(({ callbacks }) => callbacks)
		// Some callbacks are sent without a signature.
		.flatMap(({ headers }) => headers[SIGNATURE] ?? []);
	expect(sent).not.toEqual([]);
	const places = [TOKEN, KEY, PREVIOUS_KEY, MARK, signature, ...sent].flatMap((secret) =>
		stored.filter(({ bytes }) => bytes.includes(secret)).map(({ file }) => `${secret} in ${file}`),
	);
	expect(places).toEqual([]);
	expect(pair.service.leaks).toEqual([]);
	// An item's own data is found, so the search works.
	const [taskId = ''] = pair.listIds();
	expect(stored.some(({ bytes }) => bytes.includes(taskId))).toBe(true);
});
