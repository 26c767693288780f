import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startPair, type Pair } from '../../dev/fixtures/pair.cts';
import type { Workflow, WorkflowNode } from '../../dev/n8n/workflow.cts';
import type { Service } from '../../dev/service/index.cts';
import { readMedia } from '../media/corpus.cts';

export const CREATE = '/api/v1/jobs/createTask';
export const DETAILS = '/api/v1/jobs/recordInfo';

/** Counts the requests that the service was sent so far. */
export const countRequests = ({ requests }: Service, path: string) =>
	requests.filter((request) => request.path === path).length;

export const listIds = ({ tasks }: Service) => [...tasks.keys()];

/** Returns the prompts of all tasks, sorted. */
export const listPrompts = ({ tasks }: Service) =>
	[...tasks.values()].map(({ input }) => input.prompt).sort();

/** Returns the ID of the task that was created with this prompt. */
export const findId = ({ tasks }: Service, prompt: string) =>
	String([...tasks.values()].find(({ input }) => input.prompt === prompt)?.taskId);

type PairOptions = Parameters<typeof startPair>[0] & {
	/** What the service knows is not forgotten between the tests. */
	keeps?: boolean;
};

/** Starts an emulator for the tests of a file or a block, by default with the n8n that all share. Each test begins with these settings. */
export function usePair(take: (pair: Pair) => void, { keeps, ...options }: PairOptions = {}) {
	let pair: Pair;
	beforeAll(async () => take((pair = await startPair({ n8n: 'shared', ...options }))));
	afterAll(async () => await pair?.stop());
	beforeEach(() => {
		if (keeps) return;
		const { tasks, requests, uploads, deliveries } = pair.service;
		for (const known of [tasks, uploads]) known.clear();
		for (const list of [requests, deliveries]) list.length = 0;
		pair.service.set({ faultsFor: () => ({}), ...options.service });
	});
}

type Options = Parameters<Pair['importWorkflow']>[1];

/** Saves a workflow and starts it by hand, and returns the execution's ID. */
export async function start(pair: Pair, workflow: Workflow, options?: Options) {
	const { id } = await pair.importWorkflow(workflow, options);
	return await pair.n8n.run(id);
}

/** Starts a workflow, and waits until its execution is parked. */
export async function park(pair: Pair, workflow: Workflow, options?: Options) {
	const id = await start(pair, workflow, options);
	await pair.n8n.waitForExecution(id, { until: ['waiting'] });
	return id;
}

/** Where n8n may read and write files: the folder of the test run. */
export const folder = os.tmpdir();

/** Builds a node that reads a file of the corpus into a binary field. */
export function readFile(field: string, name: string): WorkflowNode {
	const file = path.join(folder, name);
	fs.writeFileSync(file, readMedia(name));
	return {
		name: `Read ${field}`,
		type: 'n8n-nodes-base.readWriteFile',
		typeVersion: 1.1,
		parameters: { operation: 'read', fileSelector: file, options: { dataPropertyName: field } },
	};
}

/** Builds nodes that read files of the corpus into the binary fields of one item. */
export function readFiles(files: Record<string, string>): WorkflowNode[] {
	const reads = Object.entries(files).map(([field, name]) => readFile(field, name));
	const binaries = reads.map(({ name }) => `$('${name}').first().binary`);
	const jsCode = `return [{ json: {}, binary: Object.assign({}, ${binaries.join(', ')}) }];`;
	const type = 'n8n-nodes-base.code';
	return [...reads, { name: 'One item', type, typeVersion: 2, parameters: { jsCode } }];
}
