import { expect } from '@jest/globals';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { generate, NODE, buildPrompts } from '../../dev/fixtures/workflows.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import { evaluate, INSPECTABLE } from '../../dev/n8n/inspect.cts';
import { poll } from '../../dev/n8n/wait.cts';
import { DETAILS_PATH, readHints, usePair } from './support.cts';

/** The login that the proxy wants below /login/, and its two parts as WEBHOOK_URL has them. */
const LOGIN = `Basic ${btoa('user:pass word')}`;
const URL_LOGIN = 'user:pass%20word';

/** Adds to a result the URL of the callback, with the secrets in it, as an honest service may. */
function addCallbackUrl(body: unknown, path: string) {
	const { data } = body as { data?: { taskId: string; resultJson?: string } };
	const url = data && pair.service.tasks.get(data.taskId)?.callBackUrl;
	if (!path.startsWith(DETAILS_PATH) || !data?.resultJson || !url?.includes(URL_LOGIN)) return body;
	const log = `sent to ${url} with the password "pass word"`;
	const resultJson = JSON.stringify({ ...(JSON.parse(data.resultJson) as object), log });
	return { ...(body as object), data: { ...data, resultJson } };
}

const pair = usePair({
	service: {
		taskSeconds: 1,
		callbackRetrySeconds: [],
		callbackTimeoutSeconds: 5,
		rewrite: addCallbackUrl,
	},
	env: { ...INSPECTABLE, N8N_LOG_LEVEL: 'debug' },
	keeps: true,
});

/** The requests below /login/: what the proxy answered, and the execution that each was for. */
const logins: string[] = [];

/** A proxy in front of n8n: the first part of a path says what it answers to all requests below it. */
const proxy = http.createServer((request, response) => {
	const [, part = '', ...path] = String(request.url).split('/');
	const { method, headers } = request;
	const isLogin = headers.authorization === LOGIN;
	const answer = part !== 'login' ? part : isLogin ? 'passes' : '401';
	if (part === 'login') logins.push(`${answer} ${path[1]}`);
	if (answer !== 'passes') {
		response.writeHead(Number(answer), { location: '/login' }).end(`Answer ${answer}`);
		return;
	}
	const onward = http.request(
		`${pair.n8n.url}/${path.join('/')}`,
		{ method, headers },
		(answered) => {
			response.writeHead(Number(answered.statusCode), answered.headers);
			answered.pipe(response);
		},
	);
	request.pipe(onward);
});

const OBSTACLE = '302';

let origin: string;
/** The IDs of the executions, by the prompts of their tasks. */
const ids: Record<string, string> = {};

/** Says what the hint and n8n's log say. */
const describeObstacle = () =>
	`callbacks to ${origin}/${OBSTACLE}/webhook-waiting/ would not arrive: it answers 302. Let the proxy before n8n pass POST requests there on`;

/** Makes n8n send its nudges after a tenth of their pauses. */
const hurryNudges = async () =>
	await evaluate(
		pair.n8n,
		`{
			const { timeout } = AbortSignal;
			AbortSignal.timeout = (pause) => timeout(pause > 100_000 ? Math.ceil(pause / 10) : pause);
		}`,
	);

/** Starts an execution behind the part of the proxy that gives this answer. The name is the prompt of its task. */
async function startBehind(answer: string, name: string, options: object) {
	// n8n reads the variable at the start of each execution.
	await evaluate(pair.n8n, `{ process.env.WEBHOOK_URL = '${origin}/${answer}/'; }`);
	ids[name] = await pair.start(buildPrompts([name]), generate({ options }));
	await pair.waitForTasks(name);
}

beforeAll(async () => {
	proxy.listen(0, '127.0.0.1');
	await once(proxy, 'listening');
	origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
	await hurryNudges();
	await startBehind(OBSTACLE, 'automatic', {});
	await startBehind(OBSTACLE, 'callback', { howToWait: 'callback', waitLimit: 0.05 });
});

afterAll(() => {
	proxy.closeAllConnections();
	proxy.close();
});

/** Waits until an execution has output its only task, and returns its hints. */
async function waitForEnd(name: string) {
	const execution = await pair.n8n.waitForExecution(String(ids[name]));
	expect(execution.getItems(NODE)).toMatchObject(pair.listCompleted(name));
	expect(pair.listPrompts().filter((prompt) => prompt === name)).toHaveLength(1);
	return readHints(execution);
}

describe('a proxy that redirects the resume URL', () => {
	it('makes Automatic poll, with a hint that says what to open', async () => {
		const why = `The run stayed awake because ${describeObstacle()}`;
		expect(await waitForEnd('automatic')).toContainEqual(expect.stringContaining(why));
		expect(pair.findTask('automatic').callBackUrl).toBeUndefined();
	});

	it('lets Sleep Until Notified sleep, and the log says why callbacks and nudges are lost', async () => {
		const { taskId, callBackUrl } = pair.findTask('callback');
		const lost = `(execution ${ids.callback}): a nudge failed: the resume URL at ${new URL(origin).host} answered ${OBSTACLE} without n8n's JSON`;
		await poll(() => pair.n8n.readLog().includes(lost), { what: `"${lost}" in the log` });
		expect(pair.n8n.readLog()).toContain(`sleeps, but ${describeObstacle()}`);
		const url = String(callBackUrl).replace(`${origin}/${OBSTACLE}`, pair.n8n.url);
		expect((await pair.service.sendCallback(taskId, { url })).status).toBe(200);
		await waitForEnd('callback');
	});
});

describe('behind a proxy that wants the login of WEBHOOK_URL', () => {
	const NOTIFIED = 'login notified';
	const NUDGED = 'login nudged #noCallback';
	/** The password, as it is, in a URL, and in the header of the login. */
	const secrets = ['pass word', URL_LOGIN.split(':')[1] ?? '', LOGIN.split(' ')[1] ?? ''];
	let asleep: Execution;

	beforeAll(async () => {
		const url = `${origin.replace('//', `//${URL_LOGIN}@`)}/login/`;
		await evaluate(pair.n8n, `{ process.env.WEBHOOK_URL = '${url}'; }`);
		for (const name of [NUDGED, NOTIFIED])
			ids[name] = await pair.start(buildPrompts([name]), generate());
		asleep = await pair.waitForSleep(String(ids[NUDGED]));
	});

	it.each([NOTIFIED, NUDGED])('Automatic sleeps, and is woken: %s', async (name) => {
		expect(await waitForEnd(name)).toEqual(['Credits consumed by this run: 12.5']);
		const { callBackUrl, callbacks } = pair.findTask(name);
		expect(callBackUrl).toContain(`${URL_LOGIN}@${new URL(origin).host}/login/webhook-waiting/`);
		expect(callbacks.map(({ status }) => status)).toEqual(name === NUDGED ? [] : [200]);
		expect(logins).toContain(`passes ${ids[name]}`);
		expect(logins.filter((one) => !one.startsWith('passes'))).toEqual([]);
	});

	it('n8n stores neither the password nor the token in any log, item, hint or record', async () => {
		const endedIds = [NOTIFIED, NUDGED].map((name) => String(ids[name]));
		const ended = await Promise.all(endedIds.map(async (id) => await pair.n8n.getExecution(id)));
		const log = pair.n8n.readLog();
		expect(log).toContain('a nudge found the end of the tasks');
		expect(JSON.stringify(asleep.data.executionData?.contextData)).toContain('"sleep":');
		for (const execution of [asleep, ...ended]) {
			const { resumeToken, ...data } = execution.data as { resumeToken?: string };
			const all = [...secrets, String(resumeToken)];
			expect(resumeToken).toMatch(/\w{20}/);
			for (const text of [JSON.stringify(data), log])
				expect(all.filter((secret) => text.includes(secret))).toEqual([]);
		}
		for (const execution of ended)
			expect(execution.getItems(NODE)).toMatchObject([
				{ result: { log: expect.stringContaining('sent to') } },
			]);
	});
});
