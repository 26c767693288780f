import { createHmac } from 'node:crypto';
import fs from 'node:fs';
import { CREDENTIAL_TYPE, TOKEN, WEBHOOK_SECRET } from '../../dev/fixtures/pair.cts';
import { createAndWait, NODE, NODE_TYPE, prompts } from '../../dev/fixtures/workflows.cts';
import { usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.05, callbackRetrySeconds: [] } });

const out: string[] = [];
afterAll(() => fs.writeFileSync('/tmp/h2explore.txt', out.join('\n')));

it('resume URL', async () => {
	const id = await pair.park(prompts(['#neverEnds']), createAndWait({ waitFor: 'callback', waitLimit: 10 }));
	const { taskId, callBackUrl } = pair.findTask('#neverEnds');
	const url = new URL(String(callBackUrl));
	const token = String(url.searchParams.get('signature'));
	const base = `${url.origin}${url.pathname}`;
	const noSuffix = base.replace('/media-generation', '');
	const ts = String(Math.floor(Date.now() / 1000));
	const sig = createHmac('sha256', WEBHOOK_SECRET).update(`${taskId}.${ts}`).digest('base64');
	const signed = { 'content-type': 'application/json', 'x-webhook-timestamp': ts, 'x-webhook-signature': sig };
	const unsigned = { 'content-type': 'application/json' };
	const body = JSON.stringify({ data: { task_id: taskId } });
	const nudge = JSON.stringify({ data: { task_id: taskId, callbackType: 'nudge' } });
	const waitTill = async () => {
		const e = await pair.n8n.request<{ status: string; waitTill: string }>('GET', `/rest/executions/${id}`);
		return `${e.status} ${e.waitTill}`;
	};
	const before = await waitTill();
	const send = async (name: string, to: string, init: RequestInit) => {
		const asked = pair.service.requests.length;
		const began = Date.now();
		const r = await fetch(to, { redirect: 'manual', ...init }).then(
			async (x) => `${x.status} ${(await x.text()).slice(0, 150)}`,
			(e: Error) => `failed ${String(e.cause ?? e)}`,
		);
		const now = await waitTill();
		out.push(`${name}: ${r} [asked ${pair.service.requests.length - asked}] ${Date.now() - began}ms ${now === before ? 'sleeps' : 'CHANGED ' + now}`);
	};
	const post = { method: 'POST', headers: signed, body };
	const good = `${base}?signature=${token}`;
	await send('no token', base, post);
	await send('wrong token', `${base}?signature=${'a'.repeat(token.length)}`, post);
	await send('multibyte token', `${base}?signature=${encodeURIComponent('é'.repeat(token.length))}`, post);
	await send('bad first', `${base}?signature=x&signature=${token}`, post);
	await send('good first', `${base}?signature=${token}&signature=x`, post);
	await send('array', `${base}?signature[]=${token}`, post);
	await send('token/path, no suffix', `${noSuffix}?signature=${token}/media-generation`, post);
	await send('token/other', `${base}?signature=${token}/other`, post);
	await send('no suffix', `${noSuffix}?signature=${token}`, post);
	await send('other suffix', `${noSuffix}/other?signature=${token}`, post);
	await send('form', good.replace('webhook-waiting', 'form-waiting'), post);
	await send('encoded suffix', `${noSuffix}/media%2Dgeneration?signature=${token}`, post);
	await send('deeper', `${base}/x?signature=${token}`, post);
	for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])
		await send(method, good, { ...post, method, body: /GET|HEAD|OPTIONS/.test(method) ? undefined : body });
	await send('unsigned', good, { ...post, headers: unsigned });
	await send('unsigned nudge', good, { method: 'POST', headers: unsigned, body: nudge });
	await send('signed nudge', good, { ...post, body: nudge });
	await send('nudge + state success', good, { ...post, body: JSON.stringify({ code: 200, data: { task_id: taskId, callbackType: 'nudge', state: 'success', resumed: true } }) });
	await send('claims success', good, { ...post, body: JSON.stringify({ code: 200, data: { task_id: taskId, state: 'success' } }) });
	await send('array body', good, { ...post, body: '[1]' });
	await send('null body', good, { ...post, body: 'null' });
	await send('text', good, { ...post, body: 'x' });
	await send('proto', good, { ...post, body: '{"__proto__":{"data":{"task_id":"' + taskId + '"}},"constructor":{"prototype":{"x":1}}}' });
	await send('deep', good, { ...post, body: `{"data":{"task_id":"${taskId}"},"a":${'['.repeat(100000)}${']'.repeat(100000)}}` });
	await send('15MB', good, { ...post, body: JSON.stringify({ data: { task_id: taskId }, x: 'y'.repeat(15e6) }) });
	await send('17MB', good, { ...post, body: JSON.stringify({ data: { task_id: taskId }, x: 'y'.repeat(17e6) }) });
	await send('other task', good, { ...post, body: JSON.stringify({ data: { task_id: 'other' } }) });
	await send('type object', good, { ...post, body: JSON.stringify({ data: { task_id: taskId, callbackType: { toString: 1 }, state: ['success'] } }) });
	await send('method override', good, { method: 'GET', headers: { ...signed, 'x-http-method-override': 'POST' } });
	await send('form urlencoded', good, { ...post, headers: { ...signed, 'content-type': 'application/x-www-form-urlencoded' }, body: `data[task_id]=${taskId}` });
	const flood = await Promise.all(Array.from({ length: 300 }, async () => (await fetch(good, { ...post, body: nudge })).status));
	out.push(`flood: ${JSON.stringify(flood.reduce<Record<string, number>>((a, s) => ({ ...a, [s]: (a[s] ?? 0) + 1 }), {}))} ${await waitTill() === before}`);
	out.push(`requests of details: ${pair.countRequests('/api/v1/jobs/recordInfo')}`);
});

it('a co-tenant has the editor send requests', async () => {
	const { resultsUrl, url, requests, leaks } = pair.service;
	const common = {
		path: 'parameters.x',
		nodeTypeAndVersion: { name: NODE_TYPE, version: 1.1 },
		currentNodeParameters: { customModel: { __rl: true, mode: 'id', value: '../../secret' }, customInput: '{}' },
		credentials: { [CREDENTIAL_TYPE]: { id: pair.credential.id, name: pair.credential.name } },
	};
	const ask = async (name: string, to: string, body: object) => {
		const { length } = requests;
		const answer = await pair.n8n.request('POST', `/rest/dynamic-node-parameters/${to}`, { ...common, ...body }).then(
			(x) => JSON.stringify(x).slice(0, 200),
			(e: Error) => `ERR ${e.message.slice(0, 200)}`,
		);
		out.push(`${name}: ${answer} [${requests.slice(length).map(({ path }) => path).join()}] token ${answer.includes(TOKEN)}`);
	};
	for (const to of [`${resultsUrl}/sample.png`, `${url}/api/v1/chat/credit`])
		for (const request of [{ url: to, method: 'GET' }, { url: to, method: 'GET', headers: { Host: 'evil.example' } }, { baseURL: to, url: '/x', method: 'TRACE' }])
			await ask(`routing ${JSON.stringify(request)}`, 'options', { loadOptions: { routing: { request } } });
	for (const value of ['../../secret', 'a/../b', '%2e%2e/x', '__proto__', 'a?b#c', '\ud800', '{model}', '$&', 'x'.repeat(100000), '<img src=x>'])
		for (const [to, methodName] of [['options', 'guideJson'], ['options', 'listModelFields'], ['resource-mapper-fields', 'getModelFields']])
			await ask(`${methodName} ${value.slice(0, 30)}`, String(to), { methodName, currentNodeParameters: { customModel: { __rl: true, mode: 'id', value }, customInput: '{}' } });
	out.push(`leaks ${JSON.stringify(leaks)}`);
});
void NODE;
