import type { IExecuteFunctions } from 'n8n-workflow';
import type { CreateTaskRequest, TaskService } from '../../../nodes/MediaGeneration/api/client';
import {
	findFailure,
	ServiceError,
	UnknownOutcomeError,
	type Failure,
} from '../../../nodes/MediaGeneration/api/failure';
import { createTasks } from '../../../nodes/MediaGeneration/operations/create/createTasks';
import type { Item } from '../../../nodes/MediaGeneration/operations/operation';

/** The error after a refusal of the service. */
export const refuse = (code: number, text = '') =>
	new ServiceError(findFailure(200, { code, text }, '', 'https://api.example') as Failure);

export const unknown = (taskId?: string) =>
	new UnknownOutcomeError({ message: 'The service broke off', taskId });

interface ItemOptions {
	createTask?: (body: CreateTaskRequest, key?: string) => unknown;
	/** Of the credential. */
	credentials?: object;
	getCredits?: () => Promise<number>;
	/** In Options. By default the rate has no limit. */
	options?: Record<string, unknown>;
}

/** Builds an item of a run, and its service. */
export function buildItem(
	context: IExecuteFunctions,
	index: number,
	{ createTask, credentials, getCredits, options }: ItemOptions = {},
): Item {
	const account = { baseUrl: 'https://api.example', accessToken: 'token', ...credentials };
	const service = {
		credentials: account,
		account: `${account.baseUrl} ${account.accessToken}`,
		async createTask(body: CreateTaskRequest, _settings: object, key?: string) {
			const answer = createTask?.(body, key) ?? `task-${index}`;
			if (answer instanceof Error) throw answer;
			return answer;
		},
		getCredits,
	} as unknown as TaskService;
	const all: Record<string, unknown> = { tasksPer10Seconds: 0, ...options };
	const option = (name: string) => all[name];
	return { index, context, service, option, read: () => '', settings: { timeoutSeconds: 1 } };
}

export type Prepared = Parameters<typeof createTasks>[0][number];

/** Prepares an item that asks for a task of this prompt. */
export const prepare = (
	context: IExecuteFunctions,
	index: number,
	options: ItemOptions = {},
	prompt = `prompt ${index}`,
): Prepared => ({
	item: buildItem(context, index, options),
	request: { model: 'model', input: { prompt } },
});
