import type { INodeExecutionData } from 'n8n-workflow';
import type { RunRecord, Wait } from '../../../../nodes/MediaGeneration/operations/record';
import type { WaitSettings } from '../../../../nodes/MediaGeneration/operations/wait/looker';
import { fallAsleep, sleepAgain } from '../../../../nodes/MediaGeneration/operations/wait/sleep';
import { openWaiting } from '../../../../nodes/MediaGeneration/operations/wait/waiting';
import { buildContext } from '../../context';

jest.mock('../../../../nodes/MediaGeneration/operations/wait/waiting', () => ({
	...jest.requireActual<object>('../../../../nodes/MediaGeneration/operations/wait/waiting'),
	openWaiting: jest.fn(),
}));

const UNTIL = 1_000_000;
const URL = 'https://n8n.example/webhook-waiting/7';
const credentials = { baseUrl: 'https://api.example', accessToken: 'token' } as never;
const items: INodeExecutionData[] = [{ json: { taskId: 'task' } }];

/** A run, what n8n would store of it, and until when. */
function buildRun(main: INodeExecutionData[][] = [[]]) {
	const data = { main };
	const put = jest.fn<Promise<void>, [Date]>().mockResolvedValue();
	const context = buildContext({}, { getExecuteData: () => ({ data }), putExecutionToWait: put });
	const wait: Wait<WaitSettings> = { settings: { timeoutSeconds: 1 } };
	return { data, put, context, wait };
}

it('n8n stores the items, and ends the wait after the limit', async () => {
	const { data, put, context, wait } = buildRun();
	const returned = [...items];
	const given = { url: `${URL}?signature=key`, credentials };
	await fallAsleep(context, returned, { wait, until: UNTIL }, given);
	expect(put).toHaveBeenCalledWith(new Date(UNTIL + 100_000));
	expect(data.main).toEqual([items]);
	expect(wait).toEqual({ settings: wait.settings, parkedUntil: UNTIL, resumeUrl: URL });
	const [, stored, access] = jest.mocked(openWaiting).mock.calls[0] as Parameters<
		typeof openWaiting
	>;
	returned.pop();
	expect(stored).toEqual({ items, settings: wait.settings, until: UNTIL });
	expect(access).toEqual(given);
});

it('an execution that n8n could not park is not noted as parked', async () => {
	const { put, context, wait } = buildRun();
	put.mockRejectedValue(new Error('No active execution found'));
	const parked = fallAsleep(context, items, { wait, until: UNTIL }, { url: URL, credentials });
	await expect(parked).rejects.toThrow('No active execution');
	expect(wait).not.toHaveProperty('parkedUntil');
});

it.each<[string, Partial<Wait<unknown>> | undefined, INodeExecutionData[] | undefined]>([
	['that has parked sleeps until the same limit', { parkedUntil: UNTIL }, items],
	['that has waited awake runs', {}, undefined],
	['that has not waited runs', undefined, undefined],
])('a run %s again', async (_, wait, expected) => {
	const { put, context } = buildRun([items]);
	expect(await sleepAgain(context, { wait } as RunRecord)).toEqual(expected);
	expect(put.mock.calls).toEqual(expected ? [[new Date(UNTIL + 100_000)]] : []);
});
