import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import execa from 'execa';
import getPort from 'get-port';
import { openFolder } from '../../dev/pack.cts';
import type { SettingsInput } from '../../dev/service/index.cts';
import { askAll, listFree, listPaid } from '../../probe/questions.cts';
import { formatReport } from '../../probe/report.cts';
import { createClient, listen } from '../../probe/service.cts';
import { start } from './support.cts';

const CREDIT = '/api/v1/chat/credit';
const CREATE = '/api/v1/jobs/createTask';
const DETAILS = '/api/v1/jobs/recordInfo';
const STREAM = '/api/file-stream-upload';
const MODELS = '/api/v1/models';
const SCHEMA = new RegExp(`^${MODELS}/.+/schema$`);
const KEY = 'dev-webhook-hmac-key';

type Data = Record<string, unknown>;

interface Body {
	code: number;
	data: Data;
}

interface Settings extends SettingsInput {
	/** In the task's prompt. */
	prompt?: string;
	/** The key that the owner gives to the probe. */
	key?: string;
	/** How long the probe waits for the task's end, and for its callback, in seconds. */
	limit?: number;
}

/** Asks an emulator everything, with one task. */
async function run({ prompt = '', key = KEY, limit = 10, ...settings }: Settings = {}) {
	const { url, uploadUrl } = await start(settings);
	const credentials = { baseUrl: url, uploadBaseUrl: uploadUrl, accessToken: 'dev-token' };
	const service = createClient(credentials);
	const stranger = createClient({ ...credentials, accessToken: 'wrong' });
	const port = await getPort();
	const { callback, close } = await listen(port);
	const request = {
		model: 'custom/any',
		callBackUrl: `http://127.0.0.1:${port}/`,
		input: { prompt },
	};
	const paid = { request, callback, key, limit, pollEvery: 0.005 };
	const questions = [...listFree(service, stranger), ...listPaid(service, paid)];
	const rows = await askAll(questions).finally(close);
	return { rows, report: formatReport(rows, 'This') };
}

/** Makes an emulator change the bodies of its answers at a path. */
const rewrite = (at: string | RegExp, edit: (body: Body) => unknown): Settings => ({
	rewrite: (body, path) =>
		(typeof at === 'string' ? path === at : at.test(path)) ? edit(body as Body) : body,
});

/** Makes an emulator change the data of its successes at a path. */
const change = (at: string | RegExp, edit: (data: Data) => unknown) =>
	rewrite(at, (body) => (body.code === 200 ? { ...body, data: edit(body.data) } : body));

const changeDetails = (changes: object) => change(DETAILS, (data) => ({ ...data, ...changes }));

/** Makes an emulator change its refusals at a path. */
const refuse = (at: string | RegExp, changes: object) =>
	rewrite(at, (body) => (body.code === 200 ? body : { ...body, ...changes }));

it.each(['contract', 'recorded'] as const)(
	'finds that the emulator answers as the package expects in the dialect "%s"',
	async (dialect) => {
		const { rows } = await run({ dialect });
		expect(rows.filter(({ verdict }) => verdict !== 'same')).toEqual([]);
		expect(rows).toHaveLength(14);
	},
);

/** A question of the probe, what it says of a service that breaks an assumption of the package, and that service. */
const DIFFERENT: Array<[asked: string, came: string, service: Settings]> = [
	['Credits, wrong token', '999', refuse(CREDIT, { code: 999 })],
	['Task Details, unknown ID', 'a success', refuse(DETAILS, { code: 200, data: { state: 'x' } })],
	['Stream Upload', 'be fetched', change(STREAM, () => ({ downloadUrl: 'http://127.0.0.1:9/' }))],
	['Model Schema, unknown model', '(500: ', refuse(SCHEMA, { code: 500 })],
	['Create Task', 'may have been paid for', change(CREATE, () => ({}))],
	['Task Details', 'no end within', { prompt: '#neverEnds', limit: 0.1 }],
	['Task Details, result', 'HTTP 403', { prompt: '#fileRefused' }],
	[
		'Task Details, result',
		'neither',
		{ ...changeDetails({ failCode: '', failMsg: '' }), prompt: '#fail' },
	],
	['Callback', 'HMAC-SHA256', { key: 'another' }],
];

test.each(DIFFERENT)(
	'%s: says that "%s" is not what the package needs',
	async (asked, came, service) => {
		const { rows, report } = await run(service);
		const row = rows.find((one) => one.asked === asked);
		const text: unknown = expect.stringContaining(came);
		expect(row).toMatchObject({ verdict: 'different', came: text });
		expect(report).toContain(` | ${row?.needed} |`);
	},
);

describe('the command', () => {
	const run = async (baseUrl: string, ...args: string[]) =>
		await execa.node(join(__dirname, '../../probe/cli.cts'), args, {
			nodeOptions: ['--require', require.resolve('tsx/cjs')],
			all: true,
			reject: false,
			env: {
				MEDIA_GENERATION_BASE_URL: baseUrl,
				MEDIA_GENERATION_ACCESS_TOKEN: 'dev-token',
				MEDIA_GENERATION_WEBHOOK_HMAC_KEY: KEY,
			},
		});

	it('creates only what it is told to, and ends with 1 if something differs', async () => {
		using folder = openFolder();
		const input = join(folder.path, 'input.json');
		writeFileSync(input, '{"prompt":"Night"}');
		const port = String(await getPort());
		const good = await start();
		const bad = await start({ balance: false });
		const create = ['--create', 'custom/any', '--input', input];
		const callback = ['--listen', port, '--public-url', `http://127.0.0.1:${port}/`];
		const [same, different] = await Promise.all([
			run(good.url, ...create, ...callback),
			run(bad.url),
		]);
		expect(same.all).toContain('| Callback | same | genuine |');
		expect(same.all).not.toContain('| different |');
		expect([same.exitCode, good.tasks.size]).toEqual([0, 1]);
		expect(different.all).toMatch(/^\| Credits \| different \|/m);
		expect([different.exitCode, bad.tasks.size]).toEqual([1, 0]);
		expect([same.all, different.all].join()).not.toMatch(/dev-token|dev-webhook-hmac-key/);
	});

	it('prints a report that has no secret in it, not even if the service tells it', async () => {
		const service = await start({
			...refuse(CREDIT, { msg: `dev-token ${KEY}` }),
			catalogue: false,
		});
		const { all, exitCode } = await run(service.url);
		expect(exitCode).toBe(0);
		const today = new Date().toISOString().slice(0, 10);
		expect(all).toContain(`with ${new URL(service.url).host}, on ${today}`);
		expect(all).toMatch(/^\| Models \| absent \|.*\| a list in data/m);
		expect(all).toContain('(hidden)');
		expect(all).not.toMatch(/dev-token|dev-webhook-hmac-key|a-wrong-token/);
	});
});
