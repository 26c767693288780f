import type { SettingsInput } from '../../dev/service/index.cts';
import { listen } from '../../probe/listen.cts';
import { probe } from '../../probe/probe.cts';
import { formatRows, type Row } from '../../probe/report.cts';
import { start } from './support.cts';

const CREDIT = '/api/v1/chat/credit';
const CREATE = '/api/v1/jobs/createTask';
const DETAILS = '/api/v1/jobs/recordInfo';
const STREAM = '/api/file-stream-upload';
const MODELS = '/api/v1/models';
const DOWNLOAD_URL = '/api/v1/common/download-url';
const SCHEMA = /\/models\/.+\/schema$/;

interface Body {
	code: number;
	msg?: string;
	data: Record<string, unknown>;
}

interface Settings extends SettingsInput {
	/** In the task's prompt. */
	prompt?: string;
	/** The key that the owner gives to the probe. */
	key?: string;
	/** A callback in place of the service's own. */
	callback?: (taskId: string) => object;
	/** How long the probe waits for the task's end, and for its callback, in seconds. */
	patience?: number;
}

/** Runs the probe against an emulator, with one task. */
async function run({
	prompt = '',
	key = 'dev-webhook-key',
	callback,
	patience = 10,
	...settings
}: Settings = {}) {
	const service = await start({ ...settings, ...(callback && { callbacks: false }) });
	const receiver = await listen(0);
	const callBackUrl = receiver.url;
	const { rows } = await probe(
		{ baseUrl: service.url, accessToken: 'dev-token', webhookSecret: key },
		{
			free: { lookupPause: 0 },
			paid: {
				request: { model: 'custom/any', callBackUrl, input: { prompt } },
				waitForCallback: receiver.waitForCallback,
				pollEvery: 0.005,
				limit: patience,
				callbackWithin: patience,
				log: (line) => {
					const [, taskId] = /^created task (\w+)/.exec(line) ?? [];
					if (taskId && callback) void service.callback(taskId, callback(taskId));
				},
			},
		},
	);
	receiver.close();
	return rows;
}

/** Makes an emulator change the bodies of successes at a path. */
const change =
	(at: string | RegExp, edit: (data: Record<string, unknown>) => unknown): Settings['rewrite'] =>
	(body, path) => {
		const { code, data, ...rest } = body as Body;
		const isThere = typeof at === 'string' ? path === at : at.test(path);
		return isThere && code === 200 ? { ...rest, code, data: edit(data) } : body;
	};

/** Makes an emulator change refusals at a path. */
const refuse =
	(at: string, edit: (body: Body) => object): Settings['rewrite'] =>
	(body, path) =>
		path === at && (body as Body).code !== 200 ? edit(body as Body) : body;

const deep = (levels: number): object => (levels ? { in: deep(levels - 1) } : {});

const rename = (from: string, to: string) => (data: Record<string, unknown>) => {
	const { [from]: value, ...rest } = data;
	return { ...rest, [to]: value };
};

const list = (rows: Row[], verdict: Row['verdict']) =>
	rows.filter((row) => row.verdict === verdict).map(({ asked }) => asked);

it('finds that the emulator answers as the package expects', async () => {
	const rows = await run();
	expect(rows.filter(({ verdict }) => verdict !== 'same')).toEqual([]);
	expect(rows).toHaveLength(18);
});

/** An assumption of the package, the fault of a service that breaks it, and where the probe says so. */
const FAULTS: Array<[assumption: string, fault: Settings, asked: string, came: string]> = [
	[
		'credits are a number',
		{ rewrite: change(CREDIT, (balance) => ({ balance })) },
		'Credits',
		'data',
	],
	[
		'an answer is JSON',
		{ rewrite: (body, path) => (path === CREDIT ? 'hello' : body) },
		'Credits',
		'not the expected JSON',
	],
	[
		'JSON has at most 64 levels',
		{ rewrite: change(DETAILS, (data) => ({ ...data, deep: deep(70) })) },
		'Task Details',
		'not the expected JSON',
	],
	[
		'success is code 200',
		{ rewrite: (body, path) => (path === CREDIT ? { ...(body as Body), code: 0 } : body) },
		'Credits',
		'(0: ',
	],
	[
		'a refusal has a text',
		{ rewrite: refuse(CREDIT, ({ code }) => ({ code, error: 'no' })) },
		'Credits, wrong token',
		'neither',
	],
	[
		'a wrong token is code 401',
		{ rewrite: refuse(CREDIT, (body) => ({ ...body, code: 999 })) },
		'Credits, wrong token',
		'999',
	],
	[
		'the codes are known',
		{ rewrite: refuse(DETAILS, (body) => ({ ...body, code: 430 })) },
		'Task Details, unknown ID',
		'code 430',
	],
	[
		'a refused creation made nothing',
		{ rewrite: refuse(CREATE, (body) => ({ ...body, code: 500 })) },
		'Create Task, wrong token',
		'(500: ',
	],
	[
		'a creation is where the path says',
		{ creation: false, rewrite: refuse(CREATE, (body) => ({ ...body, code: 404 })) },
		'Create Task, wrong token',
		'404',
	],
	[
		'an unknown task is code 404 or 422',
		{ rewrite: refuse(DETAILS, (body) => ({ ...body, code: 500 })) },
		'Task Details, unknown ID',
		'(500: ',
	],
	[
		'an unknown task is no success',
		{ rewrite: refuse(DETAILS, () => ({ code: 200, data: { state: 'waiting' } })) },
		'Task Details, unknown ID',
		'a success',
	],
	[
		'an upload is a link',
		{ rewrite: change(STREAM, rename('downloadUrl', 'url')) },
		'Stream Upload',
		'no URL for the file',
	],
	[
		'the link of an upload leads to it',
		{ rewrite: change(STREAM, (data) => ({ ...data, downloadUrl: 'http://127.0.0.1:9/' })) },
		'Stream Upload',
		"can't be fetched",
	],
	[
		'the list has its models in data.models',
		{ rewrite: change(MODELS, rename('models', 'items')) },
		'Models',
		'no list of models',
	],
	[
		'an entry has its name in model',
		{
			rewrite: change(MODELS, ({ models }) => ({
				models: (models as object[]).map((one, index) => ({ ...one, model: index ? '' : 'a/b' })),
			})),
		},
		'Models',
		'1 of ',
	],
	[
		'a schema is in data.openapi',
		{ rewrite: change(SCHEMA, rename('openapi', 'schema')) },
		'Model Schema',
		"can't be understood",
	],
	[
		'an unknown model is code 404',
		{ rewrite: (body) => ((body as Body).code === 404 ? { ...(body as Body), code: 500 } : body) },
		'Model Schema, unknown model',
		'(500: ',
	],
	[
		'a fresh link is the text in data',
		{ rewrite: change(DOWNLOAD_URL, (url) => ({ url })) },
		'Download URL',
		'no link',
	],
	[
		'the ID is in data.taskId',
		{ rewrite: change(CREATE, rename('taskId', 'recordId')) },
		'Create Task',
		'no task ID',
	],
	[
		'an ID has at most 256 characters',
		{ rewrite: change(CREATE, () => ({ taskId: 'x'.repeat(257) })) },
		'Create Task',
		'may exist',
	],
	[
		'too few credits are code 402',
		{
			rewrite: refuse(CREATE, (body) => ({ ...body, code: 500, msg: 'Credits insufficient' })),
			credits: 0,
		},
		'Create Task',
		'Credits insufficient',
	],
	[
		'a record is of the task asked for',
		{ rewrite: change(DETAILS, (data) => ({ ...data, taskId: 'other' })) },
		'Task Details',
		'another task',
	],
	[
		'a record has its state',
		{ rewrite: change(DETAILS, rename('state', 'status')) },
		'Task Details',
		'no task record',
	],
	['states are known', { prompt: '#end=done' }, 'Task Details, states', 'unknown: done'],
	[
		'a task ends in a known state',
		{
			rewrite: change(DETAILS, (data) => ({ ...data, state: 'asleep', completeTime: null })),
			patience: 0.1,
		},
		'Task Details',
		'no end within',
	],
	[
		'a result has its links where they are known',
		{ rewrite: change(DETAILS, (data) => ({ ...data, resultJson: '{"output":1}' })) },
		'Task Details, result',
		'no link',
	],
	['links are absolute', { prompt: '#links=relative' }, 'Task Details, result', 'of them no URL'],
	['a result file needs no token', { prompt: '#fileRefused' }, 'A result file', 'HTTP 403'],
	[
		'a failed task says why',
		{
			prompt: '#fail',
			rewrite: change(DETAILS, (data) => ({ ...data, failCode: '', failMsg: '' })),
		},
		'Task Details, reason',
		'neither',
	],
	[
		'times are milliseconds',
		{ rewrite: change(DETAILS, (data) => ({ ...data, createTime: 1_790_000_000 })) },
		'Task Details, times',
		'1970',
	],
	['a callback comes', { prompt: '#noCallback', patience: 0.3 }, 'Callback', 'none within'],
	['a callback is signed', { webhookSecret: '' }, 'Callback', 'Missing'],
	['it is signed with the key', { key: 'another' }, 'Callback', 'of another key'],
	['the signature is Base64', { callback: () => ({ signature: 'x' }) }, 'Callback', 'signature'],
	[
		'its time is in seconds',
		{ callback: () => ({ timestamp: Date.now() }) },
		'Callback',
		'milliseconds',
	],
	[
		'the ID is in data.task_id',
		{ callback: (taskId) => ({ body: { code: 200, data: { taskId } } }) },
		'Callback',
		'data.taskId',
	],
	[
		'it says how the task ended',
		{ callback: (taskId) => ({ body: { code: 501, data: { task_id: taskId } } }) },
		'Callback',
		'It says failed',
	],
];

test.each(FAULTS)('a service differs if it is not true that %s', async (_, fault, asked, came) => {
	const rows = await run(fault);
	const different = rows.filter((row) => row.asked === asked && row.verdict === 'different');
	expect(different.map((row) => row.came)).toContainEqual(expect.stringContaining(came));
	expect(different[0]?.consequence).not.toBe('');
});

test.each<[string, Settings, string[]]>([
	['a catalogue', { catalogue: false }, ['Models']],
	['fresh links', { downloadUrl: false }, ['Download URL']],
])(
	'a service without %s differs in nothing that the package relies on',
	async (_, settings, asked) => {
		const rows = await run(settings);
		expect(list(rows, 'absent')).toEqual(asked);
		expect(list(rows, 'different')).toEqual([]);
	},
);

test.each<[string, Settings, string, string]>([
	[
		'of an upload',
		{ rewrite: change(STREAM, (data) => ({ ...data, fileSize: {} })) },
		'Stream Upload',
		'fileSize',
	],
	[
		'of the list',
		{
			rewrite: change(MODELS, ({ models }) => ({
				models: (models as object[]).map((one) => ({ ...one, title: 7 })),
			})),
		},
		'Models',
		'title',
	],
	[
		'of a record',
		{ rewrite: change(DETAILS, (data) => ({ ...data, creditsConsumed: 'many' })) },
		'Task Details',
		'creditsConsumed',
	],
	[
		'of the request',
		{ rewrite: change(DETAILS, (data) => ({ ...data, param: '' })) },
		'Task Details, request',
		'none',
	],
])(
	'a value %s that the package leaves out is named, and is no difference',
	async (_, settings, asked, came) => {
		const rows = await run(settings);
		expect(list(rows, 'different')).toEqual([]);
		const ignored = rows.filter(({ verdict }) => verdict === 'ignored');
		expect(ignored).toMatchObject([{ asked, came: expect.stringContaining(came) as string }]);
	},
);

test('a failed task that says why differs in nothing', async () => {
	expect(list(await run({ prompt: '#fail' }), 'different')).toEqual([]);
});

test('the report says of a difference what it means, and of nothing else', async () => {
	const rows = await run({ prompt: '#end=done' });
	expect(list(rows, 'different')).toEqual(['Task Details, states', 'Callback']);
	const report = formatRows(rows);
	for (const { consequence, verdict } of rows)
		expect(report.includes(consequence)).toBe(verdict !== 'same');
});
