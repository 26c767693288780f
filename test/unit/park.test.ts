import { parkAgain } from '../../nodes/MediaGeneration/operations/wait/park';
import { buildContext, type Run } from './context';

const items = [{ json: { taskId: 'task' } }];
const parked = { run: 1, executionId: '1', until: 5_000 };

/** Parks a run again, from which n8n has kept this; returns the items, and until when it sleeps. */
async function park(kept: object | undefined, now: Run = {}, main = [items]) {
	const waits: number[] = [];
	const context = buildContext(
		{ kept: { parked: kept }, run: 1, ...now },
		{
			getExecuteData: () => ({ data: { main } }),
			putExecutionToWait: async (until: Date) => void waits.push(until.getTime()),
		},
	);
	return { output: await parkAgain(context), waits };
}

it('the same run of the same execution parks again, with the items in place of its input', async () => {
	expect(await park(parked)).toEqual({ output: items, waits: [35_000] });
	expect(await park(parked, {}, [])).toEqual({ output: [], waits: [35_000] });
});

it.each<[string, object | undefined, Run]>([
	['has not parked', undefined, {}],
	['has not parked, and has no execution ID', undefined, { executionId: undefined }],
	['is another one of the loop', parked, { run: 2 }],
	['is of a retried execution', parked, { executionId: '2' }],
])('a run that %s parks nothing', async (_, kept, now) => {
	expect(await park(kept, now)).toStrictEqual({ output: undefined, waits: [] });
});
