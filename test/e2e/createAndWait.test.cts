import { expect } from '@jest/globals';
import { parseAnswer } from '../../dev/fixtures/callbacks.cts';
import { chain, editSample, NODE, prompts, SEEN } from '../../dev/fixtures/workflows.cts';
import type { CallbackOverrides } from '../../dev/service/index.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { DETAILS, usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 0.5, credits: 1e6, callbackRetrySeconds: [0.2, 0.4, 0.8] },
});

/** Builds a workflow that creates a task for each prompt and waits for all, and then shows what each is paired with. */
function edit(texts: string[], parameters: object = {}) {
	const options = { tasksPer10Seconds: 0, concurrency: 20 };
	const sample = editSample(pair.service.resultsUrl, { options, ...parameters });
	return chain('Create and wait', [prompts(texts), sample, SEEN]);
}

const run = async (...args: Parameters<typeof edit>) => await pair.run(edit(...args));

const buildTexts = (count: number) =>
	Array.from({ length: count }, (_, index) => `prompt ${index}`);

/** Parks an execution for tasks that end without a callback. */
async function parkForEnded(count: number) {
	pair.service.set({ faultsFor: () => ({ noCallback: true, slow: 2 }) });
	const id = await pair.park(edit(buildTexts(count)));
	const taskIds = pair.listIds();
	for (const taskId of taskIds) await pair.service.waitForTask(taskId);
	return { id, taskIds };
}

const COMPLETED = { status: 'completed' };

describe('waiting for the callback', () => {
	it('parks the execution without a request, and resumes it with the finished task', async () => {
		pair.service.set({ taskSeconds: 2 });
		const id = await pair.park(edit(['one']));
		expect(pair.service.requests).toHaveLength(1);
		await pair.service.idle();
		const execution = await pair.n8n.waitForExecution(id);
		expect(execution.status).toBe('success');
		expect(execution.getOutput(NODE)).toEqual([
			{
				json: expect.objectContaining({
					taskId: pair.listIds()[0],
					status: 'completed',
					state: 'success',
					resultUrls: [expect.stringContaining('/results/')],
				}),
				pairedItem: expect.objectContaining({ item: 0 }),
			},
		]);
		expect(execution.getItems('Seen')).toEqual([{ prompt: 'one', ...COMPLETED }]);
		expect(pair.service.requests).toHaveLength(2);
	});

	it('resumes once all of 60 tasks have called back in any order, one of them twice, with the tasks in the order of the items', async () => {
		pair.service.set({
			faultsFor: ({ index }) => ({ slow: 1 + Math.random() * 5, callbackTwice: index === 30 }),
			callbackRetrySeconds: [1, 3, 6],
		});
		const texts = buildTexts(60);
		const execution = await run(texts);
		const tasks = execution.getItems<Task>(NODE);
		expect(tasks.map(({ taskId }) => pair.service.tasks.get(taskId)?.input.prompt)).toEqual(texts);
		expect(execution.getRuns('Seen')).toHaveLength(1);
		expect(execution.getItems('Seen')).toEqual(texts.map((prompt) => ({ prompt, ...COMPLETED })));
		expect(pair.countCreations()).toBe(60);
		expect(pair.countRequests(DETAILS)).toBeLessThanOrEqual(3 * 60);
	});

	it('refuses callbacks that are forged, for another task or without the secret of the resume URL, with a line in the log for each reason', async () => {
		const readLog = pair.n8n.followLog();
		const { id, taskIds } = await parkForEnded(1);
		const [taskId = ''] = taskIds;
		const now = Math.floor(Date.now() / 1000);
		const url = new URL(String(pair.listTasks()[0]?.callBackUrl));
		const signFor = (id: string, signed: number) => ({
			timestamp: now,
			signature: pair.service.sign(id, signed),
		});
		const another = { taskId: 'another', data: { task_id: 'another' } };
		const refused: Array<[status: number, reason: string, overrides: CallbackOverrides]> = [
			[401, 'signatureWrong', { secret: 'guess' }],
			[401, 'signatureWrong', { signature: Buffer.alloc(32).toString('base64') }],
			[401, 'signatureWrong', signFor(taskId, now + 1)],
			[401, 'headerMissing', { headers: { 'x-webhook-signature': undefined } }],
			[401, 'timestampStale', { timestamp: now - 301 }],
			[404, 'taskNotInExecution', { ...signFor('another', now), body: another }],
		];
		for (const [expected, reason, overrides] of refused) {
			const { status, body } = await pair.service.callback(taskId, overrides);
			const answer = { status, ...parseAnswer(body) };
			expect(answer).toMatchObject({ status: expected, accepted: false, reason });
		}
		const withoutSecret = await pair.service.callback(taskId, { url: url.origin + url.pathname });
		expect(withoutSecret.status).toBe(401);
		expect((await pair.n8n.getExecution(id)).status).toBe('waiting');
		const lines = readLog()
			.split('\n')
			.filter((line) => line.includes(`"${NODE}" refused a callback`));
		for (const [, reason] of refused)
			expect(lines.filter((line) => line.includes(reason))).toHaveLength(1);
		expect(await pair.service.callback(taskId)).toMatchObject({ status: 200 });
		expect((await pair.n8n.waitForExecution(id)).getItems(NODE)).toMatchObject([COMPLETED]);
	});
});
