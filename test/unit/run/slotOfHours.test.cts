import { Account, NodeExecution, type Came, type Settings } from './failingRuns.cts';
const copy = (kept: object) => JSON.parse(JSON.stringify(kept)) as object;
async function finish(execution: NodeExecution, came: Came): Promise<Came> {
	let last = came;
	for (let sleeps = 0; last.sleeps && sleeps < 20; sleeps++) last = await execution.wake();
	return last;
}
it('a copy of a woken execution that waited hours for its slot pays for nothing', async () => {
	const settings: Settings = { items: [['failed', 'good'], ['good']], maxTries: 2, sleeps: true };
	const account = new Account(settings.items);
	const first = new NodeExecution(account, settings);
	expect((await first.run()).sleeps).toBe(true);
	const second = first.withData(copy(first.kept));
	expect((await finish(first, await first.wake())).error).toBeUndefined();
	expect(account.count()).toEqual([2, 1]);
	await jest.advanceTimersByTimeAsync(2 * 3_600_000);
	const beside = new NodeExecution(new Account([['good']]), { items: [['good']] });
	await beside.run();
	await finish(second, await second.wake());
	expect(account.count()).toEqual([2, 1]);
});
