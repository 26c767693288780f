import type { IExecuteFunctions } from 'n8n-workflow';
import type { Ledger } from '../../../nodes/MediaGeneration/run/ledger';
import { Account, NodeExecution, type Came, type Settings } from './failingRuns.cts';

const copy = (kept: object) => JSON.parse(JSON.stringify(kept)) as { run: Ledger };

it('of two calls that fall asleep again, the one whose data n8n stores last is woken', async () => {
	const { findNap } = jest.requireActual<typeof import('../../../nodes/MediaGeneration/run/nap')>(
		'../../../nodes/MediaGeneration/run/nap',
	);
	const settings: Settings = {
		items: [['failed', 'good'], ['good']],
		maxTries: 2,
		sleeps: true,
		options: { waitLimit: 30 },
	};
	const account = new Account(settings.items);
	const first = new NodeExecution(account, settings);
	expect((await first.run()).sleeps).toBe(true);
	const second = first.withData(copy(first.kept));
	let other: Promise<Came> | undefined;
	account.onCreation = async () => {
		account.onCreation = undefined;
		other = second.wake();
		await jest.advanceTimersByTimeAsync(5_000);
	};
	const [mine, others] = [await first.wake(), await other];
	expect([mine.sleeps, others?.sleeps]).toEqual([true, true]);
	const logger = { info() {}, warn() {} };
	const context = {
		getNode: () => ({ name: 'Node' }),
		getExecutionId: () => first.id,
		additionalKeys: { $execution: { resumeUrl: 'https://n8n.example/webhook-waiting/1' } },
		logger,
	} as unknown as IExecuteFunctions;
	const [a, b] = [copy(first.kept).run, copy(second.kept).run];
	// Each falls asleep, in their order.
	const order = [a, b].sort((one, two) => Number(one.sleep?.number) - Number(two.sleep?.number));
	for (const ledger of order) findNap(context, ledger);
	// n8n has stored the first one's data after the second one's.
	expect(findNap(context, order[0] as Ledger)).toBeDefined();
});
