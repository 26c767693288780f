import { sleep } from 'n8n-workflow';
import type { TaskService } from '../../../nodes/MediaGeneration/api/client';
import { listTaskLinks, type Task } from '../../../nodes/MediaGeneration/api/task';
import type { Call } from '../../../nodes/MediaGeneration/host/call';
import { Downloads, toTaskItems } from '../../../nodes/MediaGeneration/run/files/taskFiles';
import { fake } from '../n8n.ts';
import { buildFileHelpers, type Served } from './fileHost.cts';

const HOST = 'https://cdn.example';
const NOW = Date.parse('2026-01-01T12:00:00Z');

beforeEach(() => void jest.useFakeTimers({ now: NOW }));
afterEach(() => jest.useRealTimers());

async function* breakOff() {
	yield Buffer.from('half');
	await sleep(10);
	throw new Error('aborted');
}

/** What a host answers, by the word for it. */
const ANSWERS: Record<string, () => Served> = {
	ok: () => ({ chunks: [Buffer.from('file')] }),
	breaks: () => ({ chunks: breakOff() }),
};

interface DownloadSetup {
	/** What the host answers to the requests for a file, by its name. The last answer is repeated. */
	hosts: Record<string, string>;
	/** The names of the files of the task. */
	names?: string[];
	/** Fresh links, by the name of the file. */
	fresh?: Record<string, string>;
	signal?: AbortSignal;
	/** When n8n ends the execution. */
	doneBy?: number;
	perFile?: boolean;
}

/** Downloads the files of a task. @returns what came of each, and each request with its second */
async function download({ hosts, names = ['a'], ...setup }: DownloadSetup) {
	const begun = Date.now();
	const countSeconds = () => (Date.now() - begun) / 1000;
	const asked: string[] = [];
	const note = (what: string) => void asked.push(`${what} ${Math.round(countSeconds())}`);
	const remaining = Object.fromEntries(
		Object.entries(hosts).map(([name, words]) => [name, words.split(' ')]),
	);
	const { helpers } = buildFileHelpers(async ({ url }) => {
		const name = url.slice(HOST.length + 1);
		note(name);
		const answers = remaining[name] ?? ['404'];
		const word = (answers.length > 1 ? answers.shift() : answers[0]) as string;
		if (word === 'hangs') await sleep(1e9);
		return ANSWERS[word]?.() ?? { statusCode: Number(word) };
	});
	const toUrls = (all: string[]) => all.map((name) => `${HOST}/${name}`);
	const service = {
		credentials: { baseUrl: 'https://api.example' },
		async request(_: string, __: object, { body: { url } }: { body: { url: string } }) {
			const name = url.slice(HOST.length + 1);
			note(`renew-${name}`);
			await sleep(1_000);
			const fresh = setup.fresh?.[name];
			if (fresh === undefined) throw new Error('url is wrong');
			return `${HOST}/${fresh}`;
		},
	};
	const task: Task = {
		taskId: 'task',
		status: 'completed',
		resultUrls: toUrls(names),
	};
	const { signal, doneBy = Infinity } = setup;
	const context = { helpers, getInputData: () => [{}] };
	const all = new Downloads().downloadAll(task, {
		call: { context, signal, doneBy } as unknown as Call,
		settings: { timeoutSeconds: 60 },
		getService: async () => fake<TaskService>(service),
		links: listTaskLinks(task, ['result']),
		maxBytes: Infinity,
		item: 0,
	});
	let seconds: number | undefined;
	void all.then(() => (seconds = countSeconds()));
	await jest.advanceTimersByTimeAsync(15_000_000);
	const files = await all;
	const came = files.map(({ link, error }) => error?.message ?? (link as { size?: number }).size);
	const items = toTaskItems(task, { field: 'film', perFile: setup.perFile }, files);
	return { came, asked, seconds, items };
}

const TRIES = ['a 0', 'renew-a 0', 'a 3', 'a 9', 'a 21'];

it.each(['429 429 429 ok', 'breaks breaks breaks ok', '404 503 404 ok'])(
	'a host that answers %s is asked again, three times, with growing pauses',
	async (a) => {
		expect(await download({ hosts: { a } })).toMatchObject({ came: [4], asked: TRIES });
	},
);

it('a host that hangs is not asked again', async () => {
	const { came, asked } = await download({ hosts: { a: 'hangs' } });
	expect([came, asked]).toEqual([[expect.stringContaining('no answer within 60 s')], ['a 0']]);
});

it.each<[string, DownloadSetup, string[]]>([
	[
		'a fresh link comes first',
		{ hosts: { a: '503', b: 'ok' }, fresh: { a: 'b' } },
		['a 0', 'renew-a 0', 'b 1'],
	],
	[
		'then the fresh link again',
		{ hosts: { a: '503', b: '503 ok' }, fresh: { a: 'b' } },
		['a 0', 'renew-a 0', 'b 1', 'b 3'],
	],
])('of the links of a file, %s', async (_, setup, asked) => {
	expect(await download(setup)).toMatchObject({ came: [4], asked });
});

it('a hundred links that have expired take no longer than one', async () => {
	const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
	const old = await download({ hosts: {}, names });
	expect(old.came).toEqual(names.map(() => expect.stringContaining('answered 404') as string));
	expect(old.seconds).toBeLessThan(25);
	// An account has one such request in a second.
	const renewed = old.asked.filter((what) => what.startsWith('renew'));
	expect(renewed).toEqual(['renew-n0 0', 'renew-n1 1', 'renew-n2 2', 'renew-n3 3']);
});

describe('pauses end', () => {
	it.each(['2.5', '60'])('at Stop, after %s s', async (seconds) => {
		const stop = new AbortController();
		setTimeout(() => stop.abort(), Number(seconds) * 1000);
		const stopped = await download({
			hosts: { a: '503 503 hangs' },
			signal: stop.signal,
		});
		expect(stopped).toMatchObject({ seconds: Number(seconds) });
	});

	it.each([
		['503', 9],
		['503 503 hangs', 9.5],
	])('at the end of the time for files, and the other files are there: %s', async (a, end) => {
		const { came, asked, seconds } = await download({
			hosts: { a, b: 'ok' },
			names: ['a', 'b'],
			doneBy: NOW + 15_500,
		});
		expect(came).toEqual([expect.stringContaining('answered 503'), 4]);
		expect(asked.at(-1)).toBe('a 9');
		expect(seconds).toBe(end);
	});
});

describe('an item of the files of a task', () => {
	const names = ['404', 'b', 'c'];
	const hosts = { b: 'ok', c: 'ok' };

	it.each([
		['500', 'its host cdn.example answered 500. Try again later'],
		['404', 'its host cdn.example answered 404. Try again later. Services keep files for'],
	])('has the other files, without a gap, and why a host answers %s', async (answer, reason) => {
		const { items } = await download({ hosts: { ...hosts, '404': answer }, names });
		const [{ json, binary }] = items as [(typeof items)[0]];
		const { downloadError } = json as { downloadError: string };
		expect(downloadError).toContain(reason);
		// Running the node again would create the task again.
		expect(downloadError).toMatch(
			/\. Use Get Files with this task ID\. Running Generate again pays/,
		);
		expect(binary).toMatchObject({
			film: { fileName: 'task-ucgobact-2.txt', data: 'file' },
			film_1: { fileName: 'task-ucgobact-3.txt' },
		});
	});

	it('is one for each, with its own file or the reason why it is missing', async () => {
		const { items } = await download({ hosts, names, perFile: true });
		const file = (index: number) => ({ index, kind: 'result', url: `${HOST}/${names[index]}` });
		const downloadError = expect.any(String) as string;
		expect(items).toMatchObject([
			{ json: { taskId: 'task', file: file(0), downloadError } },
			{ json: { file: file(1) }, binary: { film: { data: 'file' } } },
			{ json: { file: file(2) }, binary: { film: {} } },
		]);
		expect(items[0]).not.toHaveProperty('binary');
	});
});
