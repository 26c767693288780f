import { openWait } from '../../nodes/MediaGeneration/operations/wait/openWait';
import { buildContext, type Run } from './context';

/** Opens the wait of a run with what n8n has kept; returns it, and how often the settings were read. */
function open(kept: object, run: Run = {}) {
	let reads = 0;
	const wait = openWait(buildContext({ kept, ...run }), () => ({ read: ++reads }));
	return { wait, reads };
}

it('a repeat of the run goes on with the same wait, and reads nothing', () => {
	const kept = {};
	const { wait } = open(kept);
	wait.begun = 5;
	expect(open(kept)).toEqual({ wait, reads: 0 });
	expect(wait).toMatchObject({ begun: 5, settings: { read: 1 } });
});

it.each<[string, Run]>([
	['another run of a loop', { run: 1 }],
	['a retry from the executions list', { executionId: '2' }],
])('%s begins a wait of its own', (_, now) => {
	const kept = {};
	open(kept).wait.begun = 5;
	const { wait, reads } = open(kept, now);
	expect(wait.begun).toBeUndefined();
	expect(reads).toBe(1);
});

it('a retry of what had parked takes the settings of then, as its input is what was parked', () => {
	const kept = { parked: { run: 0 } };
	open(kept).wait.begun = 5;
	expect(open(kept, { executionId: '2' })).toStrictEqual({
		wait: { run: 0, executionId: '2', settings: { read: 1 } },
		reads: 0,
	});
});
