const { chain, createAndWait, prompts } = require('../dev/fixtures/workflows.cts');
const { importFor, richService, withN8n } = require('./pair.cts');
const { median } = require('./statistics.cts');

/**
 * Requests to the service and executions of n8n per finished task: Create and Wait by callback and by polling, beside the
 * loop that is usually built by hand (HTTP Request creates, Wait 5 s, HTTP Request looks, If it is done).
 *
 * By callback, tasks end in a random order, one by one, and each calls as it ends; the time of each call is taken as well,
 * and, every now and then, that of a call without a signature: n8n loads the parked execution for it as for any other, and
 * we refuse it unread. By polling, tasks take 30 s; the four workflows run at the same time, each with a service of its own.
 */
const CURVE = [1, 10, 100, 1_000];
const REFUSED = 50;
const POLLED = [1, 10];
const TASK_SECONDS = 30;
const LIMIT = 300_000;

/** @typedef {{ perTask: number, executions: number, callback: number, refused: number }} Batch */

const http = (/** @type {string} */ name, /** @type {object} */ parameters) => ({
	name,
	type: 'n8n-nodes-base.httpRequest',
	typeVersion: 4.2,
	parameters: {
		authentication: 'genericCredentialType',
		genericAuthType: 'httpHeaderAuth',
		...parameters,
	},
	credentials: { httpHeaderAuth: {} },
});

/**
 * The loop that is usually built by hand.
 * @param {string} url the service's
 * @param {number} count
 */
function handBuilt(url, count) {
	const workflow = chain('By hand', [
		prompts(count),
		http('Create', {
			method: 'POST',
			url: `${url}/api/v1/jobs/createTask`,
			sendBody: true,
			specifyBody: 'json',
			jsonBody: '={{ { model: "custom/any", input: { prompt: $json.prompt } } }}',
		}),
		{
			name: 'Wait',
			type: 'n8n-nodes-base.wait',
			typeVersion: 1.1,
			webhookId: 'c0ffee00-0000-4000-8000-00000000cccc',
			parameters: { amount: 5, unit: 'seconds' },
		},
		http('Look', { url: `=${url}/api/v1/jobs/recordInfo?taskId={{ $json.data.taskId }}` }),
		{
			name: 'Done?',
			type: 'n8n-nodes-base.if',
			typeVersion: 2,
			parameters: {
				conditions: {
					options: { caseSensitive: true, typeValidation: 'strict', version: 1 },
					conditions: [
						{
							id: 'done',
							leftValue: '={{ $json.data.state }}',
							rightValue: 'success',
							operator: { type: 'string', operation: 'equals' },
						},
					],
					combinator: 'and',
				},
			},
		},
	]);
	workflow.connections['Done?'] = { main: [[], [{ node: 'Wait', type: 'main', index: 0 }]] };
	return workflow;
}

/**
 * @param {import('./pair.cts').N8n} n8n
 * @param {string} workflowId
 */
async function finish(n8n, workflowId) {
	await n8n.waitForExecution(await n8n.run(workflowId), { timeout: LIMIT });
	return (await n8n.listExecutions({ workflowId })).length;
}

/**
 * A batch by callback.
 * @param {import('./pair.cts').N8n} n8n
 * @param {number} count
 * @returns {Promise<Batch>}
 */
async function byCallback(n8n, count) {
	const service = await richService({ faultsFor: () => ({ neverEnds: true }) });
	try {
		const workflow = chain('By callback', [prompts(count), createAndWait()]);
		const workflowId = await importFor(n8n, service, workflow);
		const executionId = await n8n.run(workflowId);
		await n8n.waitForExecution(executionId, { until: ['waiting'], timeout: LIMIT });

		/** @type {{ callback: number[], refused: number[] }} */
		const times = { callback: [], refused: [] };
		const call = async (
			/** @type {'callback' | 'refused'} */ kind,
			/** @type {string} */ taskId,
		) => {
			const sent = performance.now();
			const { status } = await service.callback(taskId, kind === 'refused' ? { secret: '' } : {});
			times[kind].push(performance.now() - sent);
			if (status !== (kind === 'refused' ? 401 : 200))
				throw new Error(`A callback was answered ${status}`);
		};
		const tasks = [...service.tasks.values()]
			.map((task) => ({ task, place: Math.random() }))
			.sort((a, b) => a.place - b.place);
		for (const [index, { task }] of tasks.entries()) {
			if (index % Math.ceil(count / REFUSED) === 0) await call('refused', task.taskId);
			await service.waitForTask(task.taskId, 'generating');
			Object.assign(task, { state: 'success', completeTime: Date.now() });
			await call('callback', task.taskId);
		}
		await n8n.waitForExecution(executionId);
		return {
			perTask: service.requests.length / count,
			executions: (await n8n.listExecutions({ workflowId })).length / count,
			callback: median(times.callback),
			refused: median(times.refused),
		};
	} finally {
		await service.close();
	}
}

/**
 * Requests per finished task of a workflow that looks again and again.
 * @param {import('./pair.cts').N8n} n8n
 * @param {number} count
 * @param {'ours' | 'by hand'} way
 */
async function byPolling(n8n, count, way) {
	const service = await richService({ taskSeconds: TASK_SECONDS });
	try {
		const workflow =
			way === 'ours'
				? chain('By polling', [prompts(count), createAndWait({ waitFor: 'polling' })])
				: handBuilt(service.url, count);
		const executions = await finish(n8n, await importFor(n8n, service, workflow));
		return { count, way, perTask: service.requests.length / count, executions };
	} finally {
		await service.close();
	}
}

/** @param {import('./run.cts').Log} log */
async function bench(log) {
	return await withN8n(async (n8n) => {
		/** @type {Map<number, Batch>} */
		const curve = new Map();
		for (const count of CURVE) {
			log(`${count} tasks by callback`);
			curve.set(count, await byCallback(n8n, count));
		}
		log(`${POLLED.join(' and ')} tasks by polling and by hand, each of ${TASK_SECONDS} s`);
		const polled = await Promise.all(
			POLLED.flatMap((count) =>
				/** @type {const} */ ['ours', 'by hand'].map((way) => byPolling(n8n, count, way)),
			),
		);
		const of = (/** @type {number} */ count) => /** @type {Batch} */ curve.get(count);
		const ms = (/** @type {number} */ time) => `${time.toFixed(1)} ms`;
		const figures = (/** @type {number} */ executions) =>
			`${executions} executions of n8n per finished task`;
		const [hundred, thousand] = [of(100), of(1_000)];
		return [
			...CURVE.map((count) => ({
				name: `${count} tasks by callback, requests per finished task`,
				value: of(count).perTask,
				goal: { atMost: count === 1 ? 2 : 3 },
				figures: figures(of(count).executions),
			})),
			...polled.map(({ count, way, perTask, executions }) => ({
				name: `${count} tasks of ${TASK_SECONDS} s, ${way === 'ours' ? 'by polling' : 'by a loop built by hand'}, requests per finished task`,
				value: perTask,
				figures: figures(executions / count),
			})),
			{
				name: 'A callback while 1,000 tasks are parked, of one while 100 are',
				value: thousand.callback / hundred.callback,
				figures: `medians: ${ms(thousand.callback)}, and ${ms(hundred.callback)}; one that we refuse unread, for which n8n loads the execution too: ${ms(thousand.refused)}, and ${ms(hundred.refused)}`,
			},
			{
				name: 'The same, of how the time of one that we refuse unread grows',
				value: thousand.callback / hundred.callback / (thousand.refused / hundred.refused),
				goal: { atMost: 1.25 },
				figures: 'what is more than 1 is growth that is ours and not of n8n loading the execution',
			},
		];
	});
}

module.exports = { title: 'Requests and executions per finished task', bench };
