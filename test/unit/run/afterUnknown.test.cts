import { Account, NodeExecution, type Settings } from './failingRuns.cts';
it('a retry behind an unknown outcome counts the failed tasks before it', async () => {
	const settings: Settings = { items: [['failed', 'unknown', 'failed', 'good']], maxTries: 2 };
	const account = new Account(settings.items);
	const first = new NodeExecution(account, settings);
	await first.run();
	expect(account.count()).toEqual([2]);
	const came = await first.retry().run();
	expect(account.count()).toEqual([3]);
	expect(came.error?.description).toContain('task-0-1');
});
