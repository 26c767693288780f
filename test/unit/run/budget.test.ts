import { checkBudget } from '../../../nodes/MediaGeneration/run/send/budget';
import { prepare, type Run } from '../n8n';
import { open } from './sending';

/** Takes tasks from the budget of a run, of which there may be five; the account may have credits. */
async function take(count: number, run: Run, options: object = { maxTasksPerRun: 5 }) {
	const opened = open(count, run);
	const plans = Array.from({ length: count }, (_, index) =>
		prepare(opened.call.context, index, { options: { ...options }, getCredits: async () => 1 }),
	);
	return await checkBudget(opened, plans);
}

describe('Maximum Tasks per Run', () => {
	it('counts the tasks of all runs and calls in one execution', async () => {
		const run: Run = { contextData: {} };
		await take(2, run);
		await expect(take(4, { ...run, runIndex: 1 })).rejects.toMatchObject({
			message:
				"'Maximum Tasks per Run' in Options is 5: 2 already created in this execution, 4 more requested",
			description: 'No task was created. Give fewer items, or raise the limit.',
		});
		await take(3, run);
		await expect(take(1, run)).rejects.toThrow('5 already created');
		await expect(take(6, { ...run, executionId: '2' })).rejects.toThrow('0 already created');
	});

	it("counts the calls of an hour in n8n's Agents, and tells the model that the limit is not its own", async () => {
		const now = jest.spyOn(Date, 'now').mockReturnValue(0);
		const call: Run = { contextData: null, type: 'mediaGenerationTool' };
		for (const time of [0, 3_600_000]) {
			now.mockReturnValue(time);
			await take(5, call);
			await expect(take(1, call)).rejects.toMatchObject({
				message: expect.stringContaining('5 already created in the last hour') as string,
				description: expect.stringContaining('do not try again') as string,
			});
		}
		now.mockRestore();
	});

	it('stands in the way of all, and is the error of the items without a task', async () => {
		const run = open(3, { goesOn: true });
		const options = { maxTasksPerRun: 2 };
		const plans = [0, 1, 1].map((attempts, index) => ({
			...prepare(run.call.context, index, { options }),
			attempts,
		}));
		expect(await checkBudget(run, plans)).toEqual([]);
		expect([...run.errors.keys()]).toEqual([0]);
		expect(run.ledger.shared.count).toBe(0);
		expect(await checkBudget(run, plans.slice(1))).toHaveLength(2);
	});
});

describe('Stop Below This Balance', () => {
	/** Checks items of these accounts, and lists the accounts that were asked. */
	async function check(credits: Record<string, number | Error>, accounts: string[]) {
		const asked: string[] = [];
		const run = open(accounts.length);
		const plans = accounts.map((accessToken, index) =>
			prepare(run.call.context, index, {
				credentials: { accessToken },
				options: { keepCredits: 10 },
				async getCredits() {
					asked.push(accessToken);
					const answer = credits[accessToken];
					if (answer instanceof Error) throw answer;
					return answer as number;
				},
			}),
		);
		await checkBudget(run, plans);
		return asked;
	}

	it.each([
		[10, "The account has 10 credits, but 'Stop Below This Balance' in Options is 10", 'Top up'],
		[new Error('Broken'), "the account's credits couldn't be read: Broken", "'Credits Path'"],
	])('creates nothing when one of the accounts has %s', async (poor, message, next) => {
		const error = {
			message: expect.stringContaining(message) as string,
			description: expect.stringMatching(new RegExp(`^No task was created\\. .*${next}`)) as string,
		};
		for (const accounts of ['poor rich', 'rich poor'])
			await expect(check({ rich: 11, poor }, accounts.split(' '))).rejects.toMatchObject(error);
	});
});
