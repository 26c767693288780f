import { buildResultBytes } from '../../dev/fixtures/results.cts';
import { generate, NODE, numberTexts, buildPrompts, SEEN } from '../../dev/fixtures/workflows.cts';
import { evaluate, INSPECTABLE } from '../../dev/n8n/inspect.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 0.5, credits: 1e6, callbackRetrySeconds: Array<number>(40).fill(2) },
	env: INSPECTABLE,
	keeps: true,
});

describe('n8n that is killed and started again', () => {
	const FILE = 'file #noCallback #fileSize=0.3 #fileSlow=20';
	const POLLING = 'polling #slow=60';
	const CREATED = 'created';
	const UNDER_WAY = '#hang #created';
	/** Tasks of an execution whose wait limit, 12 s, passes while n8n is down. */
	const LIMITED = ['limited one', 'limited two #noCallback', 'limited three #neverEnds'];
	const LIMIT_MINUTES = 0.2;
	/** The last task ends when n8n is back. At its start, n8n checks the executions that sleep, and may take an execution that a callback wakes then for crashed. */
	const LAST = 'batch #neverEnds';
	const NOTIFIED = numberTexts(19, 'batch').map(
		(text, index) => `${text} #slow=${4 + index * 0.75}`,
	);
	const BATCH = [...NOTIFIED, LAST];

	let fileId: string;
	let batchId: string;
	let limitedId: string;
	let creations: number;

	const buildNodes = (texts: string[], parameters?: Record<string, unknown>) => [
		buildPrompts(texts),
		generate(parameters),
	];

	beforeAll(async () => {
		const { n8n, service } = pair;
		fileId = await pair.startSleeping(
			...buildNodes([FILE], { options: { downloadResults: true } }),
		);
		await pair.start(...buildNodes([POLLING], { options: { howToWait: 'polling' } }));
		const options = { tasksPer10Seconds: 0, concurrency: 1 };
		await pair.start(...buildNodes([CREATED, UNDER_WAY], { operation: 'start', options }));
		await pair.waitForTasks(POLLING, UNDER_WAY);
		await service.waitForTask(pair.findId(FILE));
		expect((await service.sendCallback(pair.findId(FILE))).status).toBe(200);
		await poll(() => service.deliveries.length > 0, { what: 'a download' });
		batchId = await pair.startSleeping(...buildNodes(BATCH), SEEN);
		await service.waitForTask(pair.findId(String(BATCH[2])));
		const limited = { waitLimit: LIMIT_MINUTES, downloadResults: true };
		limitedId = await pair.startSleeping(...buildNodes(LIMITED, { options: limited }));
		await pair.waitForCallbacks(String(LIMITED[0]));
		creations = pair.countCreations();
		// n8n itself would end the wait long after its limit. The test brings this end forward.
		const soon = new Date(Date.now() + 5_000).toISOString();
		const endOfWait = await evaluate(
			n8n,
			`{
				const executions = load('@n8n/di').Container.get(load('@n8n/db').ExecutionRepository);
				await executions.update('${limitedId}', { waitTill: new Date('${soon}') });
				return (await executions.findOneBy({ id: '${limitedId}' })).waitTill.toISOString();
			}`,
		);
		expect(endOfWait).toBe(soon);
		await n8n.kill();
		await n8n.restart();
	});

	it('loses no callback that came while an execution with 20 tasks slept and n8n was down', async () => {
		const { service } = pair;
		const sendings = [];
		for (const prompt of NOTIFIED) {
			const { callbacks } = await service.waitForTask(pair.findId(prompt));
			expect(callbacks.at(-1)).toMatchObject({ status: 200 });
			sendings.push(...callbacks);
		}
		expect(sendings.some(({ status }) => status === null)).toBe(true);
		await pair.endTask(pair.findTask(LAST));
		expect((await service.sendCallback(pair.findId(LAST))).status).toBe(200);
		const execution = await pair.n8n.waitForExecution(batchId);
		expect(execution.status).toBe('success');
		expect(execution.getItems('Seen')).toEqual(
			BATCH.map((prompt) => ({ prompt, status: 'completed' })),
		);
	});

	it('gets, by a retry, the file that it was downloading', async () => {
		const { n8n } = pair;
		const { taskId, faults } = pair.findTask(FILE);
		faults.fileSlow = undefined;
		expect((await n8n.waitForExecution(fileId)).status).toBe('crashed');
		const [item] = (await pair.retry(fileId)).getOutput(NODE);
		expect(item).toMatchObject({ json: { taskId, status: 'completed' } });
		expect(item?.json).not.toHaveProperty('downloadError');
		const bytes = item?.binary?.data && (await n8n.readBinary(item.binary.data));
		expect(bytes?.equals(buildResultBytes(taskId, 0, 0.3))).toBe(true);
	});

	it('outputs every ID of an execution whose limit passed while n8n was down', async () => {
		const execution = await pair.n8n.waitForExecution(limitedId);
		expect(execution.status).toBe('success');
		const tasks = execution.getItems<Task>(NODE);
		expect(tasks.map(({ taskId }) => taskId)).toEqual(LIMITED.map((text) => pair.findId(text)));
		for (const { status } of tasks) expect(['completed', 'timedOut']).toContain(status);
		expect(tasks[2]?.status).toBe('timedOut');
	});

	it('creates nothing again, and has every task in its log but the one that was being created', () => {
		expect(pair.countCreations()).toBe(creations);
		const log = pair.n8n.readLog();
		const unlogged = pair
			.listTasks()
			.filter(({ taskId }) => !log.includes(`created task ${taskId}`));
		expect(unlogged.map(({ input }) => input.prompt)).toEqual([UNDER_WAY]);
	});
});
