import { expect } from '@jest/globals';
import { chain, editSample, items, NODE } from '../../dev/fixtures/workflows.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { usePair } from './support.cts';

const WAYS = {
	create: { operation: 'create' },
	callback: { operation: 'createAndWait', waitFor: 'callback' },
	polling: { operation: 'createAndWait', waitFor: 'polling' },
};

/** What the credential names as its header, to a service that recognizes `Idempotency-Key`. A request is sent four times, and not again when n8n repeats the node. */
const HEADERS = [
	{ header: 'Idempotency-Key', lost: 1, tasks: 1, status: 'success' },
	{ header: 'Idempotency-Key', lost: 4, tasks: 1, status: 'error' },
	{ header: 'X-Ignored', lost: 1, tasks: 2, status: 'success' },
	{ header: '', lost: 1, tasks: 1, status: 'error' },
];

const cells = (Object.keys(WAYS) as Array<keyof typeof WAYS>).flatMap((way) =>
	HEADERS.map((one) => ({ ...one, way, prompt: `${way} "${one.header}" ${one.lost}` })),
);

const pair = usePair({
	service: {
		taskSeconds: 0.3,
		idempotencyHeader: 'Idempotency-Key',
		// A second task for a prompt is answered.
		faultsFor: ({ input: { prompt } }) =>
			findTasks(prompt).length ? {} : { lost: cells.find((cell) => cell.prompt === prompt)?.lost },
	},
	keeps: true,
});

const findTasks = (prompt: unknown) =>
	pair.listTasks().filter(({ input }) => input.prompt === prompt);

const executions = new Map<string, Execution>();

beforeAll(async () => {
	await Promise.all(
		cells.map(async ({ way, header, prompt }) => {
			const changes = { customEndpoints: true, idempotencyHeader: header };
			const credential = await pair.createCredential(changes);
			// Expressions return another value at each try.
			const seed = '={{ Math.floor(Math.random() * 1e9) }}';
			const node = editSample(
				pair.service.resultsUrl,
				{ ...WAYS[way], prompt, seed },
				{ retryOnFail: true, maxTries: 2, waitBetweenTries: 50 },
			);
			const workflow = chain(`Lost: ${prompt}`, [items([{}]), node]);
			executions.set(prompt, await pair.run(workflow, { credential }));
		}),
	);
});

it.each(cells)(
	'$way with Retry On Fail, header "$header", $lost answers lost: $tasks created, $status',
	({ way, prompt, tasks, status }) => {
		const execution = executions.get(prompt);
		const known = findTasks(prompt);
		expect(known).toHaveLength(tasks);
		expect(execution?.status).toBe(status);
		if (status === 'error')
			expect(execution?.readError()).toContain('may exist and may have been paid for');
		else
			expect(execution?.getItems<Task>(NODE)).toMatchObject([
				{ taskId: known.at(-1)?.taskId, status: way === 'create' ? 'pending' : 'completed' },
			]);
	},
);
