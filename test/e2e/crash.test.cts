import { expect } from '@jest/globals';
import fastify from 'fastify';
import { chain, createAndWait, httpRequest, NODE, prompts } from '../../dev/fixtures/workflows.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 1.5, credits: 1e6, callbackRetrySeconds: [0.5, 1, 1, 2] },
	n8n: {},
	keeps: true,
});

const SECOND = 1_000;
const COMPLETED = { status: 'completed' };
/** The executions that a later node is under way in when n8n is killed, by how they are retried. */
const RETRIED = { 'as it was': false, 'as it is saved now': true };
type Retried = keyof typeof RETRIED;
const SUBJECTS = ['a fox', 'an owl'];
const nameSubjects = (how: Retried) => SUBJECTS.map((subject) => `${subject} ${how}`);

/** Parked when n8n is killed, until a limit that passes while it is down. */
const PARKED = ['parked one', 'parked two #noCallback', 'parked three #neverEnds'];
const LIMIT_MINUTES = 0.2;

/** The later node's server, which lets its callers wait until n8n was killed. */
const later = fastify({ forceCloseConnections: true });
let isKilled = false;
let calls = 0;
const ids = {} as Record<Retried | 'parked', string>;
let creations: number;

const listTasks = (texts: string[]) =>
	texts.map((text) => ({ taskId: pair.findId(text), status: expect.any(String) }));

beforeAll(async () => {
	later.get('/', async (_request, reply) => {
		calls++;
		if (isKilled) return {};
		return reply.hijack();
	});
	const url = await later.listen({ host: '127.0.0.1', port: 0 });
	const photo = createAndWait({
		waitFor: 'callback',
		customInput: '={{ { prompt: "A photo of " + ($json.prompt ?? "") } }}',
	});
	for (const how of Object.keys(RETRIED) as Retried[])
		ids[how] = await pair.start(
			chain('Crashed', [prompts(nameSubjects(how)), photo, httpRequest({ url })]),
		);
	await poll(() => calls >= 2, { timeout: 40 * SECOND, what: 'the later nodes' });
	const parked = createAndWait({ waitLimit: LIMIT_MINUTES, downloadResults: true });
	ids.parked = await pair.park(chain('Parked', [prompts(PARKED), parked]));
	await poll(() => findParked()?.callbacks.at(-1)?.status === 200, {
		timeout: 10 * SECOND,
		what: 'a callback that is answered',
	});
	creations = pair.countCreations();
	await pair.n8n.kill();
	isKilled = true;
	await pair.n8n.restart();
}, 180 * SECOND);

afterAll(async () => await later.close());

const findParked = () => pair.service.tasks.get(pair.findId(String(PARKED[0])));

describe('an execution that was resumed, and crashed while a later node ran', () => {
	it.each(Object.entries(RETRIED) as Array<[Retried, boolean]>)(
		'is retried with the workflow %s, and its tasks come out without being created again',
		async (how, loadWorkflow) => {
			const ended = await pair.n8n.waitForExecution(ids[how]);
			expect(ended.status).toBe('crashed');
			const url = `/rest/executions/${ids[how]}/retry`;
			const retried = await pair.n8n.request<{ id: string }>('POST', url, { loadWorkflow });
			const execution = await pair.n8n.waitForExecution(retried.id);
			expect(pair.countCreations()).toBe(creations);
			expect(execution.status).toBe('success');
			const texts = nameSubjects(how).map((subject) => `A photo of ${subject}`);
			const tasks = listTasks(texts);
			expect(execution.getItems<Task>(NODE)).toMatchObject(
				tasks.map((task) => ({ ...task, ...COMPLETED })),
			);
		},
	);
});

it("n8n's own limit brings out every ID of an execution that no process looks after any more", async () => {
	const execution = await pair.n8n.waitForExecution(ids.parked, { timeout: 110 * SECOND });
	expect(execution.status).toBe('success');
	const tasks = execution.getItems<Task>(NODE);
	expect(tasks).toMatchObject(listTasks(PARKED));
	for (const { status } of tasks) expect(['completed', 'timedOut']).toContain(status);
	expect(tasks[2]?.status).toBe('timedOut');
});
