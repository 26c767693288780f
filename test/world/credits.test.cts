import {
	AWAKE_OR_ASLEEP,
	build,
	film,
	runAndCheck,
	MINUTE,
	SECOND,
	type ItemFates,
} from './live.cts';
import type { Plan } from './world.cts';

/* Maximum Credits per Run. While a task runs, the service says one credit more than its price. */

const GOES_ON = { onError: 'continueRegularOutput' } as const;

/** Tasks of these prices. */
const cost = (...prices: number[]): ItemFates[] => prices.map((price) => ({ price }));

/** How many tasks were sent in all, and what the last error says. */
async function spend(items: ItemFates[], more: Partial<Plan>) {
	const lived = await runAndCheck(build(items, { ...GOES_ON, ...more }));
	const said = lived.items.flatMap(({ json }) => json.error ?? []);
	const { creations } = lived.world.service;
	return { ...lived, said, count: creations.length, creations };
}

describe.each(AWAKE_OR_ASLEEP)('a limit in credits (%s)', (howToWait) => {
	it('lets a task be created while it fits beside one like the dearest, and says why no other is', async () => {
		const { sent, said, statuses } = await spend(cost(3, 1, 8, 1, 1), {
			...{ howToWait, maxCredits: 10, concurrency: 4 },
		});
		expect(sent).toEqual([1, 1, 1, 0, 0]);
		expect(statuses.slice(0, 3)).toEqual(Array(3).fill('completed'));
		const message =
			"'Maximum Credits per Run' in Options is 10: 3 already created in this execution, for 15 credits, the dearest for 9";
		expect(said).toEqual([message, message]);
	});

	it.each([
		[6, 2],
		[5, 1],
	])(
		'counts over a loop, where a failure costs nothing but stays dear: %d',
		async (most, count) => {
			const failed: ItemFates = { end: 'failed', price: 5 };
			const steps = [film(failed, 'good'), film('good')];
			const lived = await spend([], { steps, howToWait, maxCredits: most });
			expect(lived.count).toBe(count);
		},
	);

	it('is new for each retry from the list, which pays for no task that it adopts', async () => {
		const { sent, statuses } = await spend(cost(1, 1, 1), {
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
		expect(world.n8n.executions[0]?.given).toHaveLength(5);
	});

	it('says why a task failed that may not be created again', async () => {
		const failed: ItemFates = { end: 'failed', price: 9 };
		const { sent, said } = await spend([failed], {
			...{ howToWait, maxCredits: 14, costs: 'atEnd', maxTries: 3 },
		});
		expect(sent).toEqual([1]);
		expect(said).toEqual([expect.stringContaining('The task failed: blocked')]);
	});

	it('waits for a record that is invisible at first, not for each item anew if it never comes', async () => {
		const late = { price: 1, knownAfter: 20 * SECOND, after: 60 * SECOND };
		expect((await spend([late, late], { howToWait, maxCredits: 10 })).count).toBe(2);
		const never = { price: 1, knownAfter: 10 * MINUTE };
		const { count, execution } = await spend([never, ...cost(1, 1, 1, 1, 1)], {
			...{ howToWait, maxCredits: 10, costs: 'atEnd', limit: SECOND },
		});
		expect(count).toBe(1);
		expect(execution.ended[0]?.endedAt).toBeLessThan((execution.ended[0]?.begunAt ?? 0) + MINUTE);
	});
});

it.each<[string, ItemFates[], number, number]>([
	['like the dearest', [...cost(3), 'unknown', ...cost(1)], 12, 3],
	['like the dearest', [...cost(3), 'unknown', ...cost(1)], 11, 2],
	['too much where no cost is known', ['unknown', 'good'], 100, 1],
])('an unknown outcome counts %s', async (_, items, maxCredits, count) => {
	expect((await spend(items, { maxCredits })).count).toBe(count);
});

it('a rejected creation costs nothing', async () => {
	const items: ItemFates[] = [...cost(3), 'refused', ...cost(1)];
	expect((await spend(items, { maxCredits: 8 })).sent).toEqual([1, 1, 1]);
});

it('tasks without cost fit into any limit', async () => {
	const { sent } = await spend(cost(0, 0, 0), { maxCredits: 1, costs: 'atEnd', limit: 5 * MINUTE });
	expect(sent).toEqual([1, 1, 1]);
});
