import {
	AWAKE_OR_ASLEEP,
	buildWorld,
	buildFilm,
	runAndCheck,
	MINUTE,
	SECOND,
	type ItemFates,
} from './live.cts';
import type { Plan } from './world.cts';

/* Maximum Credits per Run. While a task runs, the service says one credit more than its price. */

const GOES_ON = { onError: 'continueRegularOutput' } as const;

/** Builds an item for a task of each of these prices. */
const buildItems = (...prices: number[]): ItemFates[] => prices.map((price) => ({ price }));

/** Runs a world, and returns with its output how many tasks were sent, and the errors of items. */
async function spend(items: ItemFates[], more: Partial<Plan>) {
	const result = await runAndCheck(buildWorld(items, { ...GOES_ON, ...more }));
	const errors = result.items.flatMap(({ json }) => json.error ?? []);
	return { ...result, errors, count: result.world.service.creations.length };
}

describe.each(AWAKE_OR_ASLEEP)('a limit in credits (%s)', (howToWait) => {
	it('creates a task only while another as dear as the dearest fits, and the error says so', async () => {
		const { sent, errors, statuses } = await spend(buildItems(3, 1, 8, 1, 1), {
			...{ howToWait, maxCredits: 10, concurrency: 4 },
		});
		expect(sent).toEqual([1, 1, 1, 0, 0]);
		expect(statuses.slice(0, 3)).toEqual(Array(3).fill('completed'));
		const message =
			"'Maximum Credits per Run' in Options is 10: 3 already created in this execution, for 15 credits, the dearest for 9";
		expect(errors).toEqual([message, message]);
	});

	it.each([
		[6, 2],
		[5, 1],
	])(
		'counts over all rounds of a loop, where a failed task costs nothing but counts as the dearest: %d',
		async (most, count) => {
			const failed: ItemFates = { end: 'failed', price: 5 };
			const steps = [buildFilm(failed, 'good'), buildFilm('good')];
			const result = await spend([], { steps, howToWait, maxCredits: most });
			expect(result.count).toBe(count);
		},
	);

	it('begins anew in each retry from the list, which pays for no task that it adopts', async () => {
		const { sent, statuses } = await spend(buildItems(1, 1, 1), {
			...{ howToWait, maxCredits: 2, onError: 'stopWorkflow', retries: [{}, {}, {}] },
		});
		expect(sent).toEqual([1, 1, 1]);
		expect(statuses).toEqual(Array(3).fill('completed'));
	});

	it('pays for no further task in any try, where the service says costs only at the end', async () => {
		const items: ItemFates[] = ['endless', 'endless', 'endless'];
		const { sent, error, world } = await spend(items, {
			...{ howToWait, maxCredits: 100, costs: 'atEnd', maxTries: 5, onError: 'stopWorkflow' },
		});
		expect(sent).toEqual([1, 0, 0]);
		expect(error?.message).toContain("it isn't known what one costs");
		expect(error?.description).toContain(
			"use 'Maximum Tasks per Run' or 'Stop Below This Balance'",
		);
		// Each of five tries looks for 30 seconds.
		expect(world.n8n.executions[0]?.outputs).toHaveLength(5);
	});

	it('lets no failed task be created again that does not fit, and the error says why the task failed', async () => {
		const failed: ItemFates = { end: 'failed', price: 9 };
		const { sent, errors } = await spend([failed], {
			...{ howToWait, maxCredits: 14, costs: 'atEnd', maxTries: 3 },
		});
		expect(sent).toEqual([1]);
		expect(errors).toEqual([expect.stringContaining('The task failed: blocked')]);
	});

	it('waits for a record that is invisible at first, but only once if it stays so', async () => {
		const late = { price: 1, knownAfter: 20 * SECOND, after: 60 * SECOND };
		expect((await spend([late, late], { howToWait, maxCredits: 10 })).count).toBe(2);
		const never = { price: 1, knownAfter: 10 * MINUTE };
		const { count, execution } = await spend([never, ...buildItems(1, 1, 1, 1, 1)], {
			...{ howToWait, maxCredits: 10, costs: 'atEnd', limit: SECOND },
		});
		expect(count).toBe(1);
		expect(execution.ended[0]?.endedAt).toBeLessThan((execution.ended[0]?.begunAt ?? 0) + MINUTE);
	});
});

it.each<[string, ItemFates[], number, number]>([
	['like the dearest task', [...buildItems(3), 'unknown', ...buildItems(1)], 12, 3],
	['like the dearest task', [...buildItems(3), 'unknown', ...buildItems(1)], 11, 2],
	['as too much where no cost is known', ['unknown', 'good'], 100, 1],
])('an unknown outcome counts %s', async (_, items, maxCredits, count) => {
	expect((await spend(items, { maxCredits })).count).toBe(count);
});

it('a rejected creation costs nothing', async () => {
	const items: ItemFates[] = [...buildItems(3), 'rejected', ...buildItems(1)];
	expect((await spend(items, { maxCredits: 8 })).sent).toEqual([1, 1, 1]);
});

it('tasks without cost fit into any limit', async () => {
	const { sent } = await spend(buildItems(0, 0, 0), {
		maxCredits: 1,
		costs: 'atEnd',
		limit: 5 * MINUTE,
	});
	expect(sent).toEqual([1, 1, 1]);
});
