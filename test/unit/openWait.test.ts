import type { IExecuteFunctions } from 'n8n-workflow';
import { openWait } from '../../nodes/MediaGeneration/operations/wait/openWait';

interface Run {
	run?: number;
	executionId?: string;
}

/** Opens the wait of a run with what n8n has kept; returns it, and how often the settings were read. */
function open(kept: object, { run = 0, ...rest }: Run = {}) {
	const { executionId } = { executionId: '7', ...rest };
	let reads = 0;
	const context = {
		getContext: () => kept,
		getWorkflowDataProxy: () => ({ $runIndex: run }),
		getExecutionId: () => executionId,
	} as unknown as IExecuteFunctions;
	const wait = openWait(context, () => ({ read: ++reads }));
	return { wait, reads };
}

it('a repeat of the run goes on with the same wait, and reads nothing', () => {
	const kept = {};
	const { wait } = open(kept);
	wait.begun = 5;
	expect(open(kept)).toEqual({ wait, reads: 0 });
	expect(open(kept).wait).toMatchObject({ begun: 5, settings: { read: 1 } });
});

it.each<[string, Run]>([
	['another run of a loop', { run: 1 }],
	['a retry from the executions list', { executionId: '8' }],
])('%s begins a wait of its own', (_, now) => {
	const kept = {};
	open(kept).wait.begun = 5;
	const { wait, reads } = open(kept, now);
	expect(wait.begun).toBeUndefined();
	expect(reads).toBe(1);
});

it('a call without an execution ID begins a wait', () => {
	expect(open({}, { executionId: undefined })).toMatchObject({ wait: { run: 0 }, reads: 1 });
});

it('a retry of what had parked takes the settings of then, as its input is what was parked', () => {
	const kept = { parked: { run: 0 } };
	open(kept).wait.begun = 5;
	const { wait, reads } = open(kept, { executionId: '8' });
	expect(wait).toEqual({ run: 0, executionId: '8', settings: { read: 1 } });
	expect(reads).toBe(0);
});
