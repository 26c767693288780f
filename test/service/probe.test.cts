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

/** Makes an emulator change the bodies of its answers at a path. */
const rewrite = (at: string | RegExp, edit: (body: Body) => unknown): Settings => ({
	rewrite: (body, path) =>
		(typeof at === 'string' ? path === at : at.test(path)) ? edit(body as Body) : body,
});

/** Makes an emulator change the data of its successes at a path. */
const change = (at: string | RegExp, changes: Data | ((data: Data) => unknown)) =>
	rewrite(at, ({ data, ...body }) => {
		if (body.code !== 200) return { ...body, data };
		const changed = typeof changes === 'function' ? changes(data) : { ...data, ...changes };
		return { ...body, data: changed };
	});

/** Makes an emulator change its refusals at a path. */
const refuse = (at: string | RegExp, changes: object) =>
	rewrite(at, (body) => (body.code === 200 ? body : { ...body, ...changes }));

/** Makes an emulator change each model that it lists. */
const changeModels = (edit: (model: object, index: number) => object) =>
	change(MODELS, ({ models }) => ({ models: (models as object[]).map(edit) }));

const deep = (levels: number): object => (levels ? { in: deep(levels - 1) } : {});

const rename =
	(from: string, to: string) =>
	({ [from]: value, ...rest }: Data) => ({ ...rest, [to]: value });

const list = (rows: Row[], verdict: Row['verdict']) =>
	rows.filter((row) => row.verdict === verdict).map(({ asked }) => asked);

it('finds that the emulator answers as the package expects', async () => {
	const rows = await run();
	expect(rows.filter(({ verdict }) => verdict !== 'same')).toEqual([]);
	expect(rows).toHaveLength(18);
});

/** The assumptions of the package, each with the fault of a service that breaks it and what the probe says of it, by what was asked. */
const FAULTS: Record<string, Array<[assumption: string, fault: Settings, came: string]>> = {
	Credits: [
		['credits are a number', change(CREDIT, (balance) => ({ balance })), 'data'],
		['an answer is JSON', rewrite(CREDIT, () => 'hello'), 'not the expected JSON'],
		['success is code 200', rewrite(CREDIT, (body) => ({ ...body, code: 0 })), '(0: '],
	],
	'Credits, wrong token': [
		['a refusal has a text', refuse(CREDIT, { msg: undefined, error: 'no' }), 'neither'],
		['a wrong token is code 401', refuse(CREDIT, { code: 999 }), '999'],
	],
	'Create Task, wrong token': [
		['a refused creation made nothing', refuse(CREATE, { code: 500 }), '(500: '],
		[
			'a creation is where the path says',
			{ ...refuse(CREATE, { code: 404 }), creation: false },
			'404',
		],
	],
	'Task Details, unknown ID': [
		['the codes are known', refuse(DETAILS, { code: 430 }), 'code 430'],
		['an unknown task is code 404 or 422', refuse(DETAILS, { code: 500 }), '(500: '],
		[
			'an unknown task is no success',
			refuse(DETAILS, { code: 200, data: { state: 'waiting' } }),
			'a success',
		],
	],
	'Stream Upload': [
		['an upload is a link', change(STREAM, rename('downloadUrl', 'url')), 'no URL for the file'],
		['its link leads to it', change(STREAM, { downloadUrl: 'http://127.0.0.1:9/' }), 'be fetched'],
	],
	Models: [
		['the list is in data.models', change(MODELS, rename('models', 'items')), 'no list of models'],
		[
			'an entry has its name in model',
			changeModels((one, index) => ({ ...one, model: index ? '' : 'a/b' })),
			'1 of ',
		],
	],
	'Model Schema': [
		['a schema is in data.openapi', change(SCHEMA, rename('openapi', 'x')), "can't be understood"],
	],
	'Model Schema, unknown model': [
		['an unknown model is code 404', refuse(SCHEMA, { code: 500 }), '(500: '],
	],
	'Download URL': [
		['a fresh link is the text in data', change(DOWNLOAD_URL, (url) => ({ url })), 'no link'],
	],
	'Create Task': [
		['the ID is in data.taskId', change(CREATE, rename('taskId', 'recordId')), 'no task ID'],
		['an ID has 256 characters', change(CREATE, { taskId: 'x'.repeat(257) }), 'may exist'],
		[
			'too few credits are code 402',
			{ ...refuse(CREATE, { code: 500, msg: 'Credits insufficient' }), credits: 0 },
			'Credits insufficient',
		],
	],
	'Task Details': [
		['JSON has at most 64 levels', change(DETAILS, { deep: deep(70) }), 'not the expected JSON'],
		['a record is of the task asked for', change(DETAILS, { taskId: 'other' }), 'another task'],
		['a record has its state', change(DETAILS, rename('state', 'status')), 'no task record'],
		[
			'a task ends in a known state',
			{ ...change(DETAILS, { state: 'asleep', completeTime: null }), patience: 0.1 },
			'no end within',
		],
	],
	'Task Details, states': [['states are known', { prompt: '#end=done' }, 'unknown: done']],
	'Task Details, result': [
		['a result has known links', change(DETAILS, { resultJson: '{"output":1}' }), 'no link'],
		['links are absolute', { prompt: '#links=relative' }, 'of them no URL'],
	],
	'A result file': [['a result file needs no token', { prompt: '#fileRefused' }, 'HTTP 403']],
	'Task Details, reason': [
		[
			'a failed task says why',
			{ ...change(DETAILS, { failCode: '', failMsg: '' }), prompt: '#fail' },
			'neither',
		],
	],
	'Task Details, times': [
		['times are milliseconds', change(DETAILS, { createTime: 1_790_000_000 }), '1970'],
	],
	Callback: [
		['a callback comes', { prompt: '#noCallback', patience: 0.3 }, 'none within'],
		['a callback is signed', { webhookSecret: '' }, 'Missing'],
		['it is signed with the key', { key: 'another' }, 'of another key'],
		['the signature is Base64', { callback: () => ({ signature: 'x' }) }, 'signature'],
		['its time is in seconds', { callback: () => ({ timestamp: Date.now() }) }, 'milliseconds'],
		[
			'the ID is in data.task_id',
			{ callback: (taskId) => ({ body: { code: 200, data: { taskId } } }) },
			'data.taskId',
		],
		[
			'it says how the task ended',
			{ callback: (taskId) => ({ body: { code: 501, data: { task_id: taskId } } }) },
			'It says failed',
		],
	],
};

const faults = Object.entries(FAULTS).flatMap(([asked, rows]) =>
	rows.map(([assumption, fault, came]) => ({ asked, assumption, fault, came })),
);

test.each(faults)(
	'$asked: a service differs if it is not true that $assumption',
	async ({ asked, fault, came }) => {
		const rows = await run(fault);
		const different = rows.filter((row) => row.asked === asked && row.verdict === 'different');
		expect(different.map((row) => row.came)).toContainEqual(expect.stringContaining(came));
		expect(different[0]?.consequence).not.toBe('');
	},
);

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

test.each<[asked: string, came: string, Settings]>([
	['Stream Upload', 'fileSize', change(STREAM, { fileSize: {} })],
	['Models', 'title', changeModels((one) => ({ ...one, title: 7 }))],
	['Task Details', 'creditsConsumed', change(DETAILS, { creditsConsumed: 'many' })],
	['Task Details, request', 'none', change(DETAILS, { param: '' })],
])(
	'%s: a value that the package leaves out is named, and is no difference: %s',
	async (asked, came, settings) => {
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
