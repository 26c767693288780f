import { expect } from '@jest/globals';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Pair, startPair } from '../../dev/fixtures/pair.cts';
import { startScriptedModel } from '../../dev/fixtures/scriptedModel.cts';
import { NODE } from '../../dev/fixtures/workflows.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import { WITHOUT_EDITOR } from '../../dev/n8n/process.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { WorkflowNode } from '../../dev/n8n/workflow.cts';
import { readFaults } from '../../dev/service/faults.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { readMedia } from '../media/corpus.cts';

export const CREATE_PATH = '/api/v1/jobs/createTask';
export const DETAILS_PATH = '/api/v1/jobs/recordInfo';

/** A pair, with methods for tests. */
class TestPair extends Pair {
	listIds() {
		return this.listTasks().map(({ taskId }) => taskId);
	}

	/** Returns the prompts of all tasks, sorted. */
	listPrompts() {
		return this.listTasks()
			.map(({ input }) => String(input.prompt))
			.sort();
	}

	findTask(prompt: string) {
		const task = this.listTasks().find(({ input }) => input.prompt === prompt);
		if (!task) throw new Error(`There is no task "${prompt}"`);
		return task;
	}

	findId(prompt: string) {
		return this.findTask(prompt).taskId;
	}

	/** Returns the ID and the status of the tasks of these prompts, as the node outputs them at their end. */
	listCompleted(...prompts: string[]) {
		return prompts.map((prompt) => ({ taskId: this.findId(prompt), status: 'completed' }));
	}

	/** Waits until a task of each of these prompts exists. */
	async waitForTasks(...prompts: string[]) {
		const what = `tasks with the prompts ${prompts.join(', ')}`;
		await poll(() => prompts.every((one) => this.listPrompts().includes(one)), { what });
	}

	/** Waits until the callback of the task of each of these prompts is answered 200. */
	async waitForCallbacks(...prompts: string[]) {
		const isAnswered = (prompt: string) => this.findTask(prompt).callbacks.at(-1)?.status === 200;
		await poll(() => prompts.every(isAnswered), { what: `callbacks of ${prompts.join(', ')}` });
	}

	/** Checks that the faults of a test were real. Without them, the test would pass too. */
	expectFaults() {
		expect(this.service.requestFaults).toEqual([]);
		for (const prompt of this.listPrompts())
			for (const [, name] of prompt.matchAll(/#(\w+)/g))
				expect(readFaults(prompt)).toHaveProperty(String(name));
	}

	/** Counts the requests that the service has got. */
	countRequests(path: string) {
		return this.service.requests.filter((request) => request.path === path).length;
	}

	countCreations() {
		return this.countRequests(CREATE_PATH);
	}

	/** Waits until this number of executions of a workflow have ended, and returns what its trigger output in each. */
	async waitForTriggered(workflowId: string, count = 1) {
		const executions = await this.n8n.waitForExecutions({ workflowId, count });
		return executions.flatMap((execution) => execution.getItems<Task>('Trigger'));
	}
}

type PairOptions = Omit<NonNullable<Parameters<typeof startPair>[0]>, 'n8n'> & {
	/** The environment of an n8n of its own. */
	env?: Record<string, string>;
	/** The service forgets nothing between the tests. */
	keeps?: boolean;
};

/**
 * Starts an emulator for the tests of a file or a block, with the n8n that the worker's files share, or with `env` an n8n of its
 * own, without an editor. Each test begins with these settings.
 * @returns the pair, which is complete once the tests begin
 */
export function usePair({ keeps, env, ...options }: PairOptions = {}) {
	const pair = Object.create(TestPair.prototype) as TestPair;
	let started: Pair | undefined;
	beforeAll(async () => {
		const n8n = env ? { env: { ...WITHOUT_EDITOR, ...env } } : 'shared';
		started = await startPair({ n8n, ...options });
		Object.assign(pair, started);
	});
	afterEach(() => {
		if (!keeps) pair.expectFaults();
	});
	afterAll(async () => {
		await started?.stop();
		if (keeps && started) pair.expectFaults();
	});
	beforeEach(() => {
		if (keeps) return;
		const { tasks, requests, uploads, deliveries } = pair.service;
		for (const map of [tasks, uploads]) map.clear();
		for (const list of [requests, deliveries]) list.length = 0;
		pair.service.set({ faultsFor: () => ({}), ...options.service });
	});
	return pair;
}

/** Starts a chat model for the tests of a file. The model is complete once the tests begin. */
export function useChatModel() {
	const model = {} as Awaited<ReturnType<typeof startScriptedModel>>;
	beforeAll(async () => void Object.assign(model, await startScriptedModel()));
	afterAll(async () => await model[Symbol.asyncDispose]());
	return model;
}

/** Returns the hints of our node, of all its runs. */
export const readHints = (execution?: Execution) =>
	execution?.getRuns(NODE).flatMap(({ hints = [] }) => hints.map(({ message }) => message)) ?? [];

/** Whether the tests run on the oldest n8n that the package works with. */
export const isOldest = process.env.MEDIA_GENERATION_N8N === 'oldest';

/** The folder where n8n may read and write files. */
const folder = os.tmpdir();

/** Builds nodes that read files of the corpus into the binary fields of one item. */
export const readFiles = (files: Record<string, string>): WorkflowNode[] =>
	Object.entries(files).map(([dataPropertyName, name]) => {
		const filePath = path.join(folder, name);
		fs.writeFileSync(filePath, readMedia(name));
		return {
			name: `Read ${dataPropertyName}`,
			type: 'n8n-nodes-base.readBinaryFile',
			parameters: { filePath, dataPropertyName },
		};
	});
