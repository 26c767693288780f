import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Pair, startPair } from '../../dev/fixtures/pair.cts';
import { chain } from '../../dev/fixtures/workflows.cts';
import type { WorkflowNode } from '../../dev/n8n/workflow.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { readMedia } from '../media/corpus.cts';

export const CREATE = '/api/v1/jobs/createTask';
export const DETAILS = '/api/v1/jobs/recordInfo';

/** A pair, with what tests ask of it. */
class TestPair extends Pair {
	listIds() {
		return this.listTasks().map(({ taskId }) => taskId);
	}

	/** Returns the prompts of all tasks, sorted. */
	listPrompts() {
		return this.listTasks()
			.map(({ input }) => input.prompt)
			.sort();
	}

	findId(prompt: string) {
		return String(this.listTasks().find(({ input }) => input.prompt === prompt)?.taskId);
	}

	findTask(prompt: string) {
		const task = this.service.tasks.get(this.findId(prompt));
		if (!task) throw new Error(`There is no task "${prompt}"`);
		return task;
	}

	/** Returns the prompts that the tasks in an execution's output were created with. */
	readPrompts(tasks: Task[]) {
		return tasks.map(({ taskId }) => this.service.tasks.get(taskId)?.input.prompt);
	}

	/** Counts the requests that the service was sent so far. */
	countRequests(path: string) {
		return this.service.requests.filter((request) => request.path === path).length;
	}

	countCreations() {
		return this.countRequests(CREATE);
	}

	/** Returns a function that returns the requests to the catalogue since now. */
	followLookups() {
		const { requests } = this.service;
		const { length } = requests;
		return () => requests.slice(length).filter(({ path }) => path.startsWith('/api/v1/models'));
	}

	/** Runs a workflow that starts by hand, whose nodes each lead to the next. */
	async runNodes(...nodes: WorkflowNode[]) {
		return await this.run(chain('Nodes', nodes));
	}

	/** Runs a saved workflow by hand, and returns the execution when it has ended. */
	async runSaved(...run: Parameters<Pair['n8n']['run']>) {
		return await this.n8n.waitForExecution(await this.n8n.run(...run));
	}

	/** Waits until this number of executions of a workflow have ended, and returns what its trigger output in each. */
	async waitForTriggered(workflowId: string, count = 1) {
		const executions = await this.n8n.waitForExecutions({ workflowId, count });
		return executions.flatMap((execution) => execution.getItems<Task>('Trigger'));
	}

	/** Saves a workflow and starts it by hand, and returns the execution's ID. */
	async start(...workflow: Parameters<Pair['importWorkflow']>) {
		const { id } = await this.importWorkflow(...workflow);
		return await this.n8n.run(id);
	}

	/** Starts a workflow, and waits until its execution is parked. */
	async park(...workflow: Parameters<Pair['importWorkflow']>) {
		const id = await this.start(...workflow);
		await this.n8n.waitForExecution(id, { until: ['waiting'] });
		return id;
	}
}

type PairOptions = Parameters<typeof startPair>[0] & {
	/** The service forgets nothing between the tests. */
	keeps?: boolean;
};

/**
 * Starts an emulator for the tests of a file or a block, by default with the n8n that all share. Each test begins with these
 * settings.
 * @returns the pair, which is there once the tests begin
 */
export function usePair({ keeps, ...options }: PairOptions = {}) {
	const pair = Object.create(TestPair.prototype) as TestPair;
	let started: Pair | undefined;
	beforeAll(async () => {
		started = await startPair({ n8n: 'shared', ...options });
		Object.assign(pair, started);
	});
	afterAll(async () => await started?.stop());
	beforeEach(() => {
		if (keeps) return;
		const { tasks, requests, uploads, deliveries } = pair.service;
		for (const known of [tasks, uploads]) known.clear();
		for (const list of [requests, deliveries]) list.length = 0;
		pair.service.set({ faultsFor: () => ({}), ...options.service });
	});
	return pair;
}

/** The tests run on the oldest n8n that the package works with. */
export const isOldest = process.env.MEDIA_GENERATION_N8N === 'oldest';

/** The folder where n8n may read and write files. */
export const folder = os.tmpdir();

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
