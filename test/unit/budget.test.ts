import type { IExecuteFunctions } from 'n8n-workflow';
import type { Prepared } from '../../nodes/MediaGeneration/operations/operation';
import { checkCredits, TaskBudget } from '../../nodes/MediaGeneration/operations/create/budget';

const withOptions = (options: Record<string, unknown>) => (name: string) => options[name];

it('Maximum Tasks per Run counts the tasks of all runs and calls in one execution', () => {
	const kept = {};
	let executionId: string | undefined = '1';
	const context = {
		getContext: () => kept,
		getExecutionId: () => executionId,
		isToolExecution: () => false,
		getNode: () => ({ type: 'mediaGeneration' }),
	} as unknown as IExecuteFunctions;
	/** As each run or call makes a budget of its own. */
	const take = (count: number) => {
		const budget = new TaskBudget(context);
		budget.take(count, withOptions({ maxTasksPerRun: 5 }), context);
		return budget;
	};
	take(2);
	expect(() => take(4)).toThrow('2 were created before in this execution, and this run is for 4');
	take(3).giveBack(1);
	expect(() => take(2)).toThrow('4 were created before');
	take(1);
	expect(() => take(1)).toThrow('5 were created before');
	// Retry from the executions list hands the context on.
	executionId = '2';
	expect(() => take(6)).toThrow('0 were created before');
	take(5);
	// A call of an MCP server has no ID.
	executionId = undefined;
	expect(() => take(6)).toThrow('0 were created before');
});

it("Maximum Tasks per Run counts the calls of an hour by an agent of n8n's Agents", () => {
	const now = jest.spyOn(Date, 'now').mockReturnValue(0);
	const context = {
		getContext() {
			throw new Error('`executionData` is not initialized');
		},
		getExecutionId: () => undefined,
		isToolExecution: () => false,
		getNode: () => ({ type: 'mediaGenerationTool', parameters: {} }),
	} as unknown as IExecuteFunctions;
	const take = () => new TaskBudget(context).take(1, withOptions({ maxTasksPerRun: 1 }), context);
	take();
	expect(take).toThrow('1 were created before in the last hour');
	now.mockReturnValue(3_600_000);
	take();
	expect(take).toThrow('1 were created before in the last hour');
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
