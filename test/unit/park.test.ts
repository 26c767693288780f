import type { IExecuteFunctions } from 'n8n-workflow';
import { parkAgain } from '../../nodes/MediaGeneration/operations/wait/park';

const items = [{ json: { taskId: 'task' } }];
const parked = { run: 1, executionId: '7', until: 5_000 };

interface Now {
	run?: number;
	/** A call of an MCP server has none. */
	executionId?: string;
	main?: Array<typeof items>;
}

/** Parks a run again whose node context n8n has kept; returns the items, and until when it sleeps. */
async function park(kept: object | undefined, { run = 1, main = [items], ...rest }: Now = {}) {
	const { executionId } = { executionId: '7', ...rest };
	const waits: number[] = [];
	const context = {
		getContext: () => ({ parked: kept }),
		getWorkflowDataProxy: () => ({ $runIndex: run }),
		getExecutionId: () => executionId,
		getExecuteData: () => ({ data: { main } }),
		putExecutionToWait: async (until: Date) => void waits.push(until.getTime()),
	} as unknown as IExecuteFunctions;
	return { output: await parkAgain(context), waits };
}

it('the same run of the same execution parks again, with the items in place of its input', async () => {
	expect(await park(parked)).toEqual({ output: items, waits: [35_000] });
	expect(await park(parked, { main: [] })).toEqual({ output: [], waits: [35_000] });
});

it.each<[string, object | undefined, Now]>([
	['has not parked', undefined, {}],
	['has not parked, and has no execution ID', undefined, { executionId: undefined }],
	['is another one of the loop', parked, { run: 2 }],
	['is of a retried execution', parked, { executionId: '8' }],
])('a run that %s parks nothing', async (_, kept, now) => {
	expect(await park(kept, now)).toEqual({ output: undefined, waits: [] });
});
