import getPort from 'get-port';
import type { SettingsInput } from '../../dev/service/index.cts';
import { createClient } from '../../probe/client.cts';
import { nameDialect, type Clues } from '../../probe/dialect.cts';
import { askForFree } from '../../probe/free.cts';
import { watchPaidTask } from '../../probe/paid.cts';
import { formatRows, type Row } from '../../probe/rows.cts';
import { start } from './support.cts';

const CREDIT = '/api/v1/chat/credit';
const CREATE = '/api/v1/jobs/createTask';
const DETAILS = '/api/v1/jobs/recordInfo';
const STREAM = '/api/file-stream-upload';
const MODELS = '/api/v1/models';
const DOWNLOAD_URL = '/api/v1/common/download-url';
const SCHEMA = /\/models\/.+\/schema$/;

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
	key = 'dev-webhook-key',
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

const list = (rows: Row[], verdict: Row['verdict']) =>
	rows.filter((row) => row.verdict === verdict).map(({ asked }) => asked);

/** Makes an emulator change the bodies of its answers at a path. */
const rewrite = (at: string | RegExp, edit: (body: Body) => unknown): Settings => ({
	rewrite: (body, path) =>
		(typeof at === 'string' ? path === at : at.test(path)) ? edit(body as Body) : body,
});

/** Makes an emulator change the data of its successes at a path. */
const change = (at: string | RegExp, edit: (data: Data) => unknown) =>
	rewrite(at, (body) => (body.code === 200 ? { ...body, data: edit(body.data) } : body));

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

/** The package's assumptions, by what was asked: a service that breaks each, and what the probe says of it. */
const FAULTS: Record<string, Array<[assumption: string, fault: Settings, came: string]>> = {
	Credits: [
		['credits are a number', change(CREDIT, () => ({})), 'data'],
		['an answer is JSON', rewrite(CREDIT, () => 'hello'), 'not the expected JSON'],
	],
	'Credits, wrong token': [['a wrong token is code 401', refuse(CREDIT, { code: 999 }), '999']],
	'Create Task, wrong token': [
		['a refused creation made nothing', refuse(CREATE, { code: 500 }), '(500: '],
	],
	'Task Details, unknown ID': [
		['an unknown task is refused', refuse(DETAILS, { code: 500 }), '(500: '],
		[
			'an unknown task is no success',
			refuse(DETAILS, { code: 200, data: { state: 'x' } }),
			'a success',
		],
	],
	'Stream Upload': [
		['an upload is a link', change(STREAM, () => ({})), 'no URL for the file'],
		[
			'its link leads to it',
			change(STREAM, () => ({ downloadUrl: 'http://127.0.0.1:9/' })),
			'be fetched',
		],
	],
	Models: [['the list is in data.models', change(MODELS, () => ({})), 'no list of models']],
	'Model Schema': [
		['a schema is in data.openapi', change(SCHEMA, () => ({ openapi: {} })), "can't be understood"],
	],
	'Model Schema, unknown model': [
		['an unknown model is code 404', refuse(SCHEMA, { code: 500 }), '(500: '],
	],
	'Download URL': [
		['a fresh link is the text in data', change(DOWNLOAD_URL, () => ({})), 'no link'],
	],
	'Create Task': [['the ID is in data.taskId', change(CREATE, () => ({})), 'no task ID']],
	'Task Details': [
		[
			'a record is of the task asked for',
			change(DETAILS, (data) => ({ ...data, taskId: 'other' })),
			'another task',
		],
		['a task ends in a known state', { prompt: '#neverEnds', limit: 0.1 }, 'no end within'],
	],
	'Task Details, result': [
		[
			'a result has known links',
			change(DETAILS, (data) => ({ ...data, resultJson: '{"output":1}' })),
			'no link',
		],
		['a result file needs no token', { prompt: '#fileRefused' }, 'HTTP 403'],
		[
			'a failed task says why',
			{ ...change(DETAILS, (data) => ({ ...data, failCode: '', failMsg: '' })), prompt: '#fail' },
			'neither',
		],
	],
	Callback: [
		['a callback comes', { prompt: '#noCallback', limit: 0.3 }, 'none within'],
		['a callback is signed', { webhookSecret: '' }, 'are required'],
		['it is signed with the key', { key: 'another' }, 'HMAC Key'],
	],
};

test.each(
	Object.entries(FAULTS).flatMap(([asked, faults]) =>
		faults.map(([assumption, fault, came]) => ({ asked, assumption, fault, came })),
	),
)(
	'$asked: a service differs if it is not true that $assumption',
	async ({ asked, fault, came }) => {
		const { rows } = await run(fault);
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
	expect([list(rows, 'absent'), list(rows, 'different')]).toEqual([asked, []]);
});
