import getPort from 'get-port';
import type { SettingsInput } from '../../dev/service/index.cts';
import { createClient } from '../../probe/client.cts';
import { nameDialect, type Clues } from '../../probe/dialect.cts';
import { askForFree } from '../../probe/free.cts';
import { watchPaidTask } from '../../probe/paid.cts';
import { formatRows } from '../../probe/rows.cts';
import { start } from './support.cts';

const CREDIT = '/api/v1/chat/credit';
const CREATE = '/api/v1/jobs/createTask';
const DETAILS = '/api/v1/jobs/recordInfo';
const STREAM = '/api/file-stream-upload';
const MODELS = '/api/v1/models';
const DOWNLOAD_URL = '/api/v1/common/download-url';
const SCHEMA = new RegExp(`^${MODELS}/.+/schema$`);

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

/** Runs the probe against an emulator, with one task. */
async function run({
	prompt = '',
	key = 'dev-webhook-hmac-key',
	limit = 10,
	...settings
}: Settings = {}) {
	const { url, uploadUrl } = await start(settings);
	const credentials = { baseUrl: url, uploadBaseUrl: uploadUrl, accessToken: 'dev-token' };
	const clues: Clues = {};
	const service = createClient(credentials, clues);
	const stranger = createClient({ ...credentials, accessToken: 'wrong' }, clues);
	const rows = await askForFree(service, { stranger, lookupPause: 0 });
	const port = await getPort();
	const callBackUrl = `http://127.0.0.1:${port}/`;
	const request = { model: 'custom/any', callBackUrl, input: { prompt } };
	const paid = { request, port, key, limit, pollEvery: 0.005 };
	rows.push(...(await watchPaidTask(service, paid, clues)));
	return { rows, dialect: nameDialect(clues) };
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
	'finds that the emulator answers as the package expects, and in the dialect "%s"',
	async (dialect) => {
		const { rows, dialect: named } = await run({ dialect });
		expect(rows.filter(({ verdict }) => verdict !== 'same')).toEqual([]);
		expect(rows).toHaveLength(15);
		expect(named).toBe(
			`${dialect}, by a wrong token, the answer to a creation, a task's input, the ID of a callback`,
		);
	},
);

test('a service of both dialects is called a mixture', async () => {
	const recordId = change(CREATE, (data) => ({ ...data, recordId: data.taskId }));
	expect((await run(recordId)).dialect).toMatch(
		/^a mixture: contract in a wrong token, recorded in the answer to a creation, contract in/,
	);
});

/** A question of the probe, what it says of a service that breaks an assumption of the package, and that service. */
const DIFFERENT: Array<[asked: string, came: string, service: Settings]> = [
	['Credits', 'data', change(CREDIT, () => ({}))],
	['Credits', "isn't JSON from the task service", rewrite(CREDIT, () => 'hello')],
	['Credits, wrong token', '999', refuse(CREDIT, { code: 999 })],
	['Create Task, wrong token', '(500: ', refuse(CREATE, { code: 500 })],
	['Task Details, unknown ID', '(500: ', refuse(DETAILS, { code: 500 })],
	['Task Details, unknown ID', 'a success', refuse(DETAILS, { code: 200, data: { state: 'x' } })],
	['Stream Upload', 'no URL for the file', change(STREAM, () => ({}))],
	['Stream Upload', 'be fetched', change(STREAM, () => ({ downloadUrl: 'http://127.0.0.1:9/' }))],
	['Models', 'no list of models', change(MODELS, () => ({}))],
	['Model Schema', "can't be understood", change(SCHEMA, () => ({ openapi: {} }))],
	['Model Schema, unknown model', '(500: ', refuse(SCHEMA, { code: 500 })],
	['Download URL', 'no link', change(DOWNLOAD_URL, () => ({}))],
	['Create Task', 'no task ID', change(CREATE, () => ({}))],
	['Task Details', 'another task', changeDetails({ taskId: 'other' })],
	['Task Details', 'no end within', { prompt: '#neverEnds', limit: 0.1 }],
	['Task Details, result', 'no link', changeDetails({ resultJson: '{"output":1}' })],
	['Task Details, result', 'HTTP 403', { prompt: '#fileRefused' }],
	[
		'Task Details, result',
		'neither',
		{ ...changeDetails({ failCode: '', failMsg: '' }), prompt: '#fail' },
	],
	['Callback', 'none within', { prompt: '#noCallback', limit: 0.3 }],
	['Callback', 'are required', { webhookSecret: '' }],
	['Callback', 'HMAC-SHA256', { key: 'another' }],
];

test.each(DIFFERENT)(
	'%s: says that "%s" is not what the package needs',
	async (asked, came, service) => {
		const { rows } = await run(service);
		const row = rows.find((one) => one.asked === asked);
		expect(row).toMatchObject({
			verdict: 'different',
			came: expect.stringContaining(came) as string,
		});
		expect(formatRows(rows)).toContain(`needed: ${row?.needed}`);
	},
);

test.each<[string, Settings, string[]]>([
	['a catalogue', { catalogue: false }, ['Models']],
	['fresh links', { downloadUrl: false }, ['Download URL']],
	['a failure without a reason', { prompt: '#fail' }, []],
])('a service without %s differs in nothing', async (_, settings, asked) => {
	const { rows } = await run(settings);
	const others = rows.filter(({ verdict }) => verdict === 'absent' || verdict === 'different');
	expect(others).toMatchObject(asked.map((one) => ({ asked: one, verdict: 'absent' })));
});
