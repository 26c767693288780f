import { startService, type Service } from '../../dev/service/index.cts';
import { run } from './engine';

let service: Service;
let credentials: { baseUrl: string; accessToken: string };

beforeAll(async () => {
	service = await startService({ token: 'a-token', taskSeconds: 0.1 });
	credentials = { baseUrl: service.url, accessToken: 'a-token' };
});

afterAll(async () => await service.close());

const createTask = async (prompt = '') => {
	const { output } = await run({
		parameters: {
			resource: 'task',
			operation: 'create',
			model: 'beta2/image-edit',
			image: 'https://media.example/photo.png',
			prompt,
		},
		credentials,
	});
	return String(output[0]?.[0]?.json.taskId);
};

const get = async (taskId: string, more: object = {}, simplify = true) =>
	await run({
		parameters: { resource: 'task', operation: 'get', taskId, simplify },
		credentials: { ...credentials, ...more },
	});

describe('task: get', () => {
	it('returns a completed task with its result', async () => {
		const taskId = await createTask();
		await service.waitForTask(taskId);
		const { output } = await get(` ${taskId} `);
		const json = output[0]?.[0]?.json ?? {};
		expect(json).toMatchObject({
			taskId,
			model: 'beta2/image-edit',
			status: 'completed',
			state: 'success',
			creditsConsumed: 12.5,
		});
		const [url] = json.resultUrls as string[];
		expect(json.result).toMatchObject({ resultUrls: [url] });
		expect((await fetch(String(url))).headers.get('content-type')).toBe('image/png');
		expect(Date.parse(String(json.completedAt))).toBeGreaterThan(
			Date.parse(String(json.createdAt)),
		);
	});

	it('returns a failed task with the reason, and no error: the task is what was asked for', async () => {
		const taskId = await createTask('#fail');
		await service.waitForTask(taskId);
		const { output, error } = await get(taskId);
		expect(error).toBeUndefined();
		expect(output[0]?.[0]?.json).toMatchObject({
			status: 'failed',
			state: 'fail',
			failCode: '501',
			failMessage: expect.stringMatching(/./),
		});
	});

	it('returns a task that has not ended as pending', async () => {
		const { output } = await get(await createTask('#neverEnds'));
		expect(output[0]?.[0]?.json).toMatchObject({ status: 'pending', resultUrls: [] });
	});

	it('returns the record as the service has it, with Simplify turned off', async () => {
		const taskId = await createTask('Make it night');
		await service.waitForTask(taskId);
		const { output } = await get(taskId, {}, false);
		const { param, resultJson, ...record } = output[0]?.[0]?.json ?? {};
		expect(record).toMatchObject({
			taskId,
			model: 'beta2/image-edit',
			state: 'success',
			progress: 100,
			costTime: expect.any(Number),
			createTime: expect.any(Number),
			failCode: '',
		});
		expect(JSON.parse(String(param))).toMatchObject({ input: { prompt: 'Make it night' } });
		expect(JSON.parse(String(resultJson))).toEqual({ resultUrls: [expect.any(String)] });
	});

	it.each([true, false])(
		'says that the service does not know the task (simplify: %s)',
		async (simplify) => {
			const { error } = await get('no-such-task', {}, simplify);
			expect(error?.message).toContain('recordInfo is null');
		},
	);

	it('finds the task where another service keeps it', async () => {
		const taskId = await createTask();
		const { output } = await get(taskId, {
			customEndpoints: true,
			taskDetailsPath: '/api/v1/tasks/query/{taskId}',
		});
		expect(output[0]?.[0]?.json.taskId).toBe(taskId);
	});

	it('asks for a task id', async () => {
		const { error } = await get('={{ "" }}');
		expect(error?.message).toBe("'Task ID' is required [item 0]");
	});
});

describe('account: getCredits', () => {
	it('returns the credits, fractional', async () => {
		service.set({ credits: 87.5 });
		const { output } = await run({
			parameters: { resource: 'account', operation: 'getCredits' },
			credentials,
		});
		expect(output).toEqual([[{ json: { credits: 87.5 }, pairedItem: { item: 0 } }]]);
	});
});
