import type { Prepared } from '../../nodes/MediaGeneration/operations/operation';
import { checkCredits, TaskBudget } from '../../nodes/MediaGeneration/operations/create/budget';
import { buildContext, type Run } from './context';

const withOptions = (options: Record<string, unknown>) => (name: string) => options[name];

/** Takes tasks from the budget of a run, of which there may be five. */
function take(count: number, run: Run) {
	const context = buildContext(run);
	const budget = new TaskBudget(context);
	budget.take(count, withOptions({ maxTasksPerRun: 5 }), context);
	return budget;
}

it('Maximum Tasks per Run counts the tasks of all runs and calls in one execution', () => {
	const run: Run = { kept: {} };
	take(2, run);
	expect(() => take(4, run)).toThrow(
		'2 were created before in this execution, and this run is for 4',
	);
	take(3, run).giveBack(1);
	expect(() => take(2, run)).toThrow('4 were created before');
	take(1, run);
	expect(() => take(1, run)).toThrow('5 were created before');
	// Retry from the executions list hands the context on, and a call of an MCP server has no ID.
	for (const executionId of ['2', undefined])
		expect(() => take(6, { ...run, executionId })).toThrow('0 were created before');
});

it("Maximum Tasks per Run counts the calls of an hour by an agent of n8n's Agents", () => {
	const now = jest.spyOn(Date, 'now').mockReturnValue(0);
	const call: Run = { kept: null, type: 'mediaGenerationTool' };
	for (const time of [0, 3_600_000]) {
		now.mockReturnValue(time);
		take(5, call);
		expect(() => take(1, call)).toThrow('5 were created before in the last hour');
	}
});

describe('Stop Below This Balance', () => {
	/** Checks items of these accounts, and lists the accounts that were asked. */
	async function check(accounts: Array<{ accessToken: string; credits: number }>) {
		const asked: string[] = [];
		const prepared = accounts.map(({ accessToken, credits }) => {
			const getCredits = async () => asked.push(accessToken) && credits;
			const service = { credentials: { baseUrl: 'https://api.example', accessToken }, getCredits };
			return { item: { service, option: withOptions({ keepCredits: 10 }) } };
		});
		await checkCredits(prepared as unknown as Array<Prepared<unknown>>);
		return asked;
	}

	const rich = { accessToken: 'rich', credits: 11 };

	it('asks each account once', async () => {
		expect(await check([rich, { ...rich, accessToken: 'other' }, rich])).toEqual(['rich', 'other']);
		expect(await check([])).toEqual([]);
	});

	it('creates nothing when one of the accounts has too few', async () => {
		const poor = { accessToken: 'poor', credits: 10 };
		await expect(check([poor, rich])).rejects.toThrow('The account has 10 credits');
		await expect(check([rich, poor])).rejects.toThrow('The account has 10 credits');
	});
});
