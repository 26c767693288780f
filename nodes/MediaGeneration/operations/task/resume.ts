import type {
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { TaskService } from '../../service/client';
import {
	answer,
	DETAILS_SETTINGS,
	handOver,
	judgeRequest,
	refuse,
	TASK_NOT_ENDED,
} from '../../service/receiver';
import { TOLERANCE_SECONDS } from '../../service/tolerance';
import { EndedTasks } from './endedTasks';

const endedTasks = new EndedTasks();

/**
 * Batches that go on already, by their first task: of callbacks that arrive together one resumes. Between processes, n8n
 * itself lets one of them change the execution from waiting to running.
 */
const resumed = new Set<string>();
const RESUMED_LIMIT = 1_000;

/**
 * A callback for a parked execution. It goes on, with one Task for each of its items, once every parked task has ended by
 * its details; until then the sender is answered and the execution stays parked. Nothing is thrown: n8n would drop
 * the data of the run and go on with an empty item.
 */
export async function resumeExecution(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await resume(context);
	} catch {
		return refuse(context, {
			status: 503,
			reason: 'detailsUnavailable',
			message: 'The details of the tasks can not be had right now; call again',
		});
	}
}

async function resume(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	// At the same time: most of the reading is waited for.
	const [service, parked] = await Promise.all([
		TaskService.connectShared(context),
		parkedItems(context),
	]);
	const verdict = judgeRequest(context, {
		keys: service.signingKeys,
		toleranceSeconds: TOLERANCE_SECONDS,
		now: Date.now(),
	});
	if (!verdict.accepted) return refuse(context, verdict);

	const ids = parked.map(({ json }) => json.taskId as string | undefined);
	if (!ids.includes(verdict.taskId))
		return refuse(context, {
			status: 404,
			reason: 'taskForeign',
			message: 'This execution waits for other tasks',
		});

	const keyOf = (taskId: string) => `${service.credentials.baseUrl} ${taskId}`;
	const look = async (taskId: string) =>
		await endedTasks.get(
			keyOf(taskId),
			async () => await service.getTask(taskId, DETAILS_SETTINGS),
		);
	if ((await look(verdict.taskId)).status === 'pending') return refuse(context, TASK_NOT_ENDED);

	const items: INodeExecutionData[] = [];
	for (const item of parked) {
		if (item.json.status !== 'timedOut') {
			items.push(item);
			continue;
		}
		const task = await look(item.json.taskId as string);
		if (task.status === 'pending') return answer(context, 200, { accepted: true, resumed: false });
		items.push({ ...item, json: task as unknown as IDataObject });
	}

	const keys = ids.filter((id) => id !== undefined).map(keyOf);
	const [batch = ''] = keys;
	if (resumed.has(batch)) return answer(context, 200, { accepted: true, resumed: false });
	remember(batch);
	const response = context.getResponseObject();
	response.once('close', () => {
		if (response.writableEnded && response.statusCode === 200) endedTasks.forget(keys);
		else resumed.delete(batch);
	});
	return handOver(items, () => ({ accepted: true, resumed: true }));
}

/** The items that were parked: n8n has them as the node's input. */
const parkedItems = async (context: IWebhookFunctions): Promise<INodeExecutionData[]> =>
	context.evaluateExpression('{{ $input.all() }}') as unknown as INodeExecutionData[];

function remember(batch: string): void {
	resumed.add(batch);
	const [oldest] = resumed;
	if (resumed.size > RESUMED_LIMIT && oldest !== undefined) resumed.delete(oldest);
}
