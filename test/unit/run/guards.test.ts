import { checkLimits, sendGuarded } from '../../../nodes/MediaGeneration/run/send/guards';
import type { UserError } from 'n8n-workflow';
import { pause } from '../../../nodes/MediaGeneration/lib/timers';
import {
	beginLedger,
	type Creation,
	noteCost,
	noteTask,
} from '../../../nodes/MediaGeneration/run/ledger/changes';
import type { Run } from '../../../nodes/MediaGeneration/run/run';
import { prepare, type RunSetup } from '../n8n';
import { open, type Sending } from './sending';

/** Creates tasks in a run with a limit of five tasks. */
async function create(count: number, run: RunSetup) {
	const opened = open(count, run);
	const creations = Array.from({ length: count }, (_, index) =>
		prepare(opened.call.context, index, { options: { maxTasksPerRun: 5 } }),
	);
	for (const creation of await checkLimits(opened, creations))
		expect(await send(opened, creation)).toBeUndefined();
}

/** Sends a creation if the guards let it. @param isSent false: the service rejects it */
const send = async (run: Run, creation: Creation, isSent = true) =>
	await sendGuarded(run, creation, async () => {
		if (isSent) creation.isSent = true;
		return undefined;
	});

describe('Maximum Tasks per Run', () => {
	it('counts the tasks of all runs and calls in one execution', async () => {
		const run: RunSetup = { contextData: {} };
		await create(2, run);
		await expect(create(4, { ...run, runIndex: 1 })).rejects.toMatchObject({
			message:
				"'Maximum Tasks per Run' in Options is 5: 2 already created in this execution, 4 more requested",
			description: 'No task was created. Give fewer items, or raise the limit.',
		});
		await create(3, run);
		await expect(create(1, run)).rejects.toThrow('5 already created');
		await expect(create(6, { ...run, executionId: '2' })).rejects.toThrow('0 already created');
	});

	it("counts the calls of an hour in n8n's Agents, and tells the agent that the limit is not its own", async () => {
		const now = jest.spyOn(Date, 'now').mockReturnValue(0);
		const call: RunSetup = { contextData: null, type: 'mediaGenerationTool' };
		for (const time of [0, 3_600_000]) {
			now.mockReturnValue(time);
			await create(5, call);
			await expect(create(1, call)).rejects.toMatchObject({
				message: expect.stringContaining('5 already created in the last hour') as string,
				description: expect.stringContaining('do not try again') as string,
			});
		}
		now.mockRestore();
	});

	it('forbids all creations, and is the error of the items without a task', async () => {
		const entries = [[], ['failed'], ['failed']].map((taskIds) => ({
			attempts: taskIds.map((taskId) => ({ taskId })),
		}));
		const run = open(3, { goesOn: true, ledger: { entries } });
		const creations = entries.map((_, index) =>
			prepare(run.call.context, index, { options: { maxTasksPerRun: 2 } }),
		);
		expect(await checkLimits(run, creations)).toEqual([]);
		expect([...run.errors.keys()]).toEqual([0]);
		expect(run.ledger.shared.taskCount).toBe(0);
		expect(await checkLimits(run, creations.slice(1))).toHaveLength(2);
	});

	it('holds for calls side by side, and counts nothing that made no task', async () => {
		const contextData = {};
		const begin = async (runIndex: number) => {
			const run = open(1, { contextData, runIndex });
			const creation = prepare(run.call.context, 0, { options: { maxTasksPerRun: 1 } });
			await checkLimits(run, [creation]);
			return { run, creation };
		};
		const [first, second] = [await begin(0), await begin(1)];
		expect(await send(first.run, first.creation, false)).toBeUndefined();
		expect(await send(first.run, first.creation)).toBeUndefined();
		const error = await send(second.run, second.creation);
		expect(error?.message).toContain('1 already created in this execution, 1 more requested');
		expect(second.creation.isSent).toBeUndefined();
	});
});

describe('Maximum Credits per Run', () => {
	beforeEach(() => void jest.useFakeTimers());
	afterEach(() => void jest.useRealTimers());

	/** The tasks that were looked at, each with the account that asked. */
	let looks: string[];
	beforeEach(() => (looks = []));

	/**
	 * Begins a call whose items have these accounts, and may create a task of four credits for the last.
	 * @param seconds how long the service doesn't say what the task costs
	 */
	function begin(accounts: string[], seconds: number, sending: Sending = {}) {
		const run = open(accounts.length, sending);
		run.call.doneBy = Math.min(run.call.doneBy, run.call.answerBy);
		const creations = accounts.map((account, index) => {
			const options = { maxCreditsPerRun: 10 };
			const creation = prepare(run.call.context, index, { options });
			const getTask = async (taskId: string) => {
				looks.push(`${taskId} by ${account}`);
				const isSaid = Date.now() >= Number(taskId.split(' ')[1]);
				return await Promise.resolve({ taskId, creditsConsumed: isSaid ? 4 : 0 });
			};
			Object.assign(creation.item.service, { account, getTask });
			return creation;
		});
		run.getService = async (item) =>
			await Promise.resolve((creations[item] as Creation).item.service);
		const create = async (creation = creations.at(-1) as Creation) =>
			await sendGuarded(run, creation, async () => {
				await pause(1_000);
				noteTask(run, creation, `task ${Date.now() + 1_000 * seconds}`);
				return undefined;
			});
		return { run, creations, create };
	}

	const AGENTS: Sending = { contextData: null, executionId: '', type: 'mediaGenerationTool' };
	it.each<[string, Sending, string]>([
		['an execution', { contextData: {} }, 'Give fewer items'],
		["n8n's Agents", { ...AGENTS, parameters: { prompt: 'side by side' } }, 'do not try again'],
	])('holds for calls side by side in %s', async (_, sending, remedy) => {
		const calls = [0, 1, 2].map((runIndex) => begin(['a'], 2, { ...sending, runIndex }));
		const sent = Promise.all(calls.map(async ({ create }) => await create()));
		await jest.advanceTimersByTimeAsync(30_000);
		const [one, two, error] = (await sent) as [undefined, undefined, UserError];
		expect([one, two]).toEqual([undefined, undefined]);
		expect(error.message).toContain('2 already created in');
		expect(error.message).toContain('for 8 credits, the dearest for 4');
		expect(error.description).toContain(remedy);
	});

	it.each([
		['30 seconds', {}, 30],
		["an MCP client's answer", { within: 20_000 }, 16],
		["n8n's timeout", { more: { getWorkflowSettings: () => ({ executionTimeout: 25 }) } }, 20],
	])('takes no longer than %s to learn a cost', async (_, sending, seconds) => {
		const { create, creations } = begin(['a', 'a'], Infinity, sending);
		void create(creations[0]);
		const begun = Date.now() + 1_000;
		const second = create().then((error) => [error?.message, Date.now() - begun] as const);
		await jest.advanceTimersByTimeAsync(60_000);
		const [message, time] = await second;
		expect(message).toContain('1 already created');
		expect(message).toContain("it isn't known what one costs");
		expect(time / 1_000).toBeGreaterThan(seconds - 2);
		expect(time / 1_000).toBeLessThanOrEqual(seconds);
	});

	it('waits for no answer once the execution is stopped', async () => {
		const stop = new AbortController();
		const { run, creations, create } = begin(['a', 'a'], 0);
		run.call.signal = stop.signal;
		const getTask = async () => await new Promise(() => {});
		Object.assign((creations[0] as Creation).item.service, { getTask });
		void create(creations[0]);
		const ended = create().catch((error: Error) => [error.message, Date.now()]);
		await jest.advanceTimersByTimeAsync(5_000);
		const stoppedAt = Date.now();
		stop.abort(new Error('stopped'));
		await jest.advanceTimersByTimeAsync(60_000);
		expect(await ended).toEqual(['stopped', stoppedAt]);
	});

	it('looks at each task with its own account, and counts the accounts together', async () => {
		const { create, creations } = begin(['a', 'b', 'b'], 0);
		const all = Promise.all(creations.map(create));
		await jest.advanceTimersByTimeAsync(10_000);
		expect((await all).map((error) => error?.message.slice(0, 25))).toEqual([
			undefined,
			undefined,
			"'Maximum Credits per Run'",
		]);
		expect(looks.map((look) => look.split(' by ')[1])).toEqual(['a', 'b']);
	});

	it('takes 0 for a cost only at the end, and never a negative figure', () => {
		const key = 'account task';
		const say = (creditsConsumed: number | undefined, more?: object) => {
			const ledger = beginLedger({
				shared: { taskCount: 1, costs: { [key]: [] }, unknownCalls: {} },
			});
			noteCost(ledger, key, { creditsConsumed, ...more });
			return ledger.shared.costs[key];
		};
		expect(say(0, { status: 'pending' })).toEqual([]);
		expect(say(0, { status: 'completed' })).toEqual([0]);
		expect(say(0, { status: 'failed' })).toEqual([0]);
		expect(say(0, { status: 'failed', failCode: '408' })).toEqual([]);
		expect(say(undefined, { status: 'completed' })).toEqual([]);
		expect(say(2, { status: 'pending' })).toEqual([2]);
		// Otherwise each task would make room for more.
		expect(say(-2, { status: 'completed' })).toEqual([]);
	});

	it('stores a figure once, and again only after it has changed', () => {
		const ledger = beginLedger({ shared: { taskCount: 1, costs: { key: [] }, unknownCalls: {} } });
		for (const creditsConsumed of [4, 4, 4, 9, 9, 4]) noteCost(ledger, 'key', { creditsConsumed });
		expect(ledger.shared.costs.key).toEqual([4, 9, 4]);
	});
});

describe('Stop Below This Balance', () => {
	/** Checks items of these accounts, and lists the accounts that were asked. */
	async function check(credits: Record<string, number | Error>, accounts: string[]) {
		const asked: string[] = [];
		const run = open(accounts.length);
		const creations = accounts.map((accessToken, index) =>
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
		await checkLimits(run, creations);
		return asked;
	}

	it.each([
		[10, "The account has 10 credits, but 'Stop Below This Balance' in Options is 10", 'Top up'],
		[new Error('Broken'), "the account's credits couldn't be read: Broken", "'Credits Path'"],
	])('creates nothing when one of the accounts has %s', async (poor, message, remedy) => {
		const error = {
			message: expect.stringContaining(message) as string,
			description: expect.stringMatching(
				new RegExp(`^No task was created\\. .*${remedy}`),
			) as string,
		};
		for (const accounts of ['poor rich', 'rich poor'])
			await expect(check({ rich: 11, poor }, accounts.split(' '))).rejects.toMatchObject(error);
	});
});
