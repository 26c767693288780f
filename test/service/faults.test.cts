import type { TaskFaults } from '../../dev/service/faults.cts';
import { call, create, createAndAsk, DETAILS, readAnswer, start } from './support.cts';

/** The faults of tasks, of which the other suites are made. */
test.each<[prompt: string, msg: string | undefined, tasks: number]>([
	['#code=500', undefined, 0],
	['#code=531 #created', undefined, 1],
	['#code=500', 'Image fetch failed.', 0],
])('a creation answered with another code: %s, %s', async (prompt, message, tasks) => {
	const service = await start({ faultsFor: () => ({ message }) });
	const { created } = await createAndAsk(service, prompt);
	const msg = message ?? 'the service has an internal fault';
	expect(created).toEqual({ code: parseInt(prompt.slice(6)), msg, data: null });
	expect(service.tasks.size).toBe(tasks);
});

test('a creation that is answered late has made its task before', async () => {
	const service = await start();
	const input = { prompt: '#delay=0.2' };
	const begun = performance.now();
	const created = create(service, { model: 'custom/x', input });
	await created;
	expect(performance.now() - begun).toBeGreaterThan(190);
	expect([...service.tasks.values()]).toMatchObject([{ state: 'success' }]);
});

test.each<[prompt: string, status: number, details: object]>([
	['#hidden=60', 200, { code: 422, msg: 'recordInfo is null', data: null }],
	['#hidden=60 #hiddenAs=notFound', 404, { code: 404, data: null }],
	['#hidden=60 #hiddenAs=null', 200, { code: 200, data: null }],
	['#recordCode=505 #slow=60', 200, { code: 505, data: { state: 'waiting' } }],
])('details right after the creation: %s', async (prompt, status, details) => {
	expect(await createAndAsk(await start(), prompt)).toMatchObject({ status, details });
});

test('a hidden task is seen after its time', async () => {
	const service = await start();
	const { taskId } = await createAndAsk(service, '#hidden=0.1');
	await new Promise((resolve) => setTimeout(resolve, 110));
	const details = await readAnswer(await call(service, `${DETAILS}?taskId=${taskId}`));
	expect(details).toMatchObject({ code: 200, data: { taskId } });
});

test.each([
	['contract', 1],
	['recorded', 2],
] as const)('in the dialect "%s" details echo a large input, %d times', async (dialect, times) => {
	const { details } = await createAndAsk(await start({ dialect }), '#echo=1');
	const size = JSON.stringify(details).length;
	expect([size > times * 1e6, size < times * 1e6 + 2000]).toEqual([true, true]);
});

/** Runs a task to its end, and returns the links of its files and how each is answered, again and again. */
async function finish(prompt: string, faults: TaskFaults = {}, requests = 1) {
	const service = await start({ faultsFor: () => faults });
	const { taskId } = await createAndAsk(service, prompt);
	await service.waitForTask(taskId);
	const { data } = await readAnswer(await call(service, `${DETAILS}?taskId=${taskId}`));
	const task = data as { resultJson: string };
	const result = JSON.parse(task.resultJson || '{}') as { resultUrls?: string[] };
	const { resultUrls: links = [] } = result;
	const answers = [];
	for (let request = 0; request < requests; request++) {
		const response = await fetch(links[0] ?? service.resultsUrl);
		const size = await response.arrayBuffer().then(
			({ byteLength }) => byteLength,
			() => 'broken',
		);
		answers.push({ status: response.status, size, headers: response.headers });
	}
	return { service, task, links, answers };
}

test.each<[prompt: string, faults: TaskFaults, task: object]>([
	['#failCode=422', {}, { state: 'fail', failCode: '422', creditsConsumed: 0 }],
	['', { failCode: '' }, { state: 'fail', failCode: '', creditsConsumed: 0 }],
	['#said=moderated', {}, { state: 'success', failCode: '', failMsg: 'moderated' }],
])('a task that ends otherwise: %s %j', async (prompt, faults, end) => {
	const { task, service } = await finish(prompt, faults);
	expect(task).toMatchObject(end);
	const { data } = await readAnswer(await call(service, '/api/v1/chat/credit'));
	expect(data).toBe('creditsConsumed' in end ? 10_000 : 9_987.5);
});

test.each([
	['none', []],
	['spaced', [expect.stringMatching(/my result\.mp4$/)]],
])('links that are %s', async (links, expected) => {
	const finished = await finish(`#links=${links}`);
	expect(finished.links).toEqual(expected);
	if (links === 'spaced') expect(finished.answers).toMatchObject([{ status: 200 }]);
});

test.each<[prompt: string, answers: object[]]>([
	['#fileFails=2', [{ status: 404 }, { status: 404 }, { status: 200 }]],
	['#fileFails=1 #fileStatus=503', [{ status: 503 }, { status: 200 }]],
	['#fileStatus=403', [{ status: 403 }, { status: 403 }]],
	['#fileDrops=1', [{ status: 200, size: 'broken' }, { status: 200 }]],
	['#fileFails=1 #fileDrops=1', [{ status: 404 }, { size: 'broken' }, { status: 200 }]],
	['#fileEmpty', [{ status: 200, size: 0 }]],
])('files that hiccup: %s', async (prompt, answers) => {
	expect((await finish(prompt, {}, answers.length)).answers).toMatchObject(answers);
});

test.each([
	[{ fileType: 'audio/x-wav' }, 'audio/x-wav'],
	[{ fileType: '' }, null],
])('files of another type: %j', async (faults, type) => {
	const { answers } = await finish('', faults);
	const [{ headers } = { headers: new Headers() }] = answers;
	expect(headers.get('content-type')).toBe(type);
});

test.each([
	[
		undefined,
		'The number of concurrent tasks has reached its limit. Please wait for a task to end.',
	],
	['Too many at once', 'Too many at once'],
])('tasks at once have a limit, in these words: %s', async (tasksAtOnceText, msg) => {
	const words = tasksAtOnceText && { tasksAtOnceText };
	const service = await start({ tasksAtOnce: 1, ...words });
	const order = { model: 'custom/x', input: {} };
	expect(await create(service, order)).toMatchObject({ code: 200 });
	expect(await create(service, order)).toEqual({ code: 429, msg, data: null });
	await service.idle();
	expect(await create(service, order)).toMatchObject({ code: 200 });
});
