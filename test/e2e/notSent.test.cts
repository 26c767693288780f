import { expect } from '@jest/globals';
import { createAndWait, NODE, prompts } from '../../dev/fixtures/workflows.cts';
import type { SettingsInput } from '../../dev/service/index.cts';
import { usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.5, credits: 1e6, token: 'dev-token' } });

const BLANK = '={{ $json.nothing }}';
const WORD = '={{ "many" }}';

/** Runs the node with an item for each prompt, as fast as it can. */
const run = async (
	count: number,
	options: object = {},
	{ node = {}, ...parameters }: { node?: object; [name: string]: unknown } = {},
) => {
	const given = { tasksPer10Seconds: 0, concurrency: 3, ...options };
	const wait = createAndWait({ waitFor: 'polling', options: given, ...parameters });
	return await pair.runNodes(prompts(count), { ...wait, ...node });
};

describe('an option that is set to something that it cannot be', () => {
	const OPTIONS: Array<[label: string, option: object]> = [
		['Maximum Tasks per Run', { maxTasksPerRun: BLANK }],
		['Maximum Tasks per Run', { maxTasksPerRun: WORD }],
		['Stop Below This Balance', { keepCredits: BLANK }],
		['Stop Below This Balance', { keepCredits: WORD }],
		['Tasks Started at Once', { concurrency: 0 }],
		['Tasks Started at Once', { concurrency: BLANK }],
		['Tasks Started at Once', { concurrency: WORD }],
		['Tasks per 10 Seconds', { tasksPer10Seconds: BLANK }],
		['Tasks per 10 Seconds', { tasksPer10Seconds: WORD }],
		['Timeout', { timeoutSeconds: BLANK }],
		['Timeout', { timeoutSeconds: WORD }],
	];

	it.each(OPTIONS)('"%s" as %j ends the run before anything is sent', async (label, option) => {
		const execution = await run(2, option);
		expect(execution.status).toBe('error');
		expect(execution.readError()).toContain(label);
		expect(pair.service.requests).toEqual([]);
	});

	it.each([1e12, BLANK, WORD, 0, -1])(
		'"Limit Wait Time" as %j ends the run before anything is sent, also where it would sleep',
		async (waitLimit) => {
			const execution = await run(2, {}, { waitLimit, waitFor: 'callback' });
			expect(execution.status).toBe('error');
			expect(execution.readError()).toContain('Limit Wait Time');
			expect(pair.service.requests).toEqual([]);
		},
	);
});

describe('a run whose next creations would fare as the last ones', () => {
	const CONCURRENCY = 3;
	const ITEMS = 30;
	/** What came before the first refusal, and one in each place for which more were under way. */
	const MOST = 2 + CONCURRENCY;
	const statusFrom = (first: number, status: number): SettingsInput => ({
		faultsFor: ({ index }) => (index < first ? {} : { status }),
	});

	const CASES: Array<[name: string, created: number, most: number, settings: SettingsInput]> = [
		['has too few credits for any', 0, MOST, { credits: 0 }],
		['has too few credits after two', 2, 2 + MOST, { credits: 30 }],
		['has a token that is no longer valid', 0, MOST, statusFrom(0, 401)],
		['has reached the limit of its token', 2, 2 + MOST, statusFrom(2, 433)],
		['has three creations of unknown outcome in a row', 1, 1 + 2 + MOST, statusFrom(1, 500)],
	];

	it.each(CASES)(
		'%s: what was created comes out, and the rest is not sent',
		async (_, created, most, settings) => {
			const { faultsFor } = settings;
			// The emulator's own index counts those of earlier tests too.
			let index = 0;
			pair.service.set({
				...settings,
				faultsFor: (task) => faultsFor?.({ ...task, index: index++ }),
			});
			const node = { onError: 'continueRegularOutput' };
			const execution = await run(ITEMS, { concurrency: CONCURRENCY }, { node });
			expect(execution.status).toBe('success');
			expect(pair.countCreations()).toBeLessThanOrEqual(most);
			const items = execution.getItems(NODE);
			expect(items).toHaveLength(ITEMS);
			const ids = items.flatMap(({ taskId }) => taskId ?? []);
			expect(new Set(ids)).toEqual(new Set(pair.listIds()));
			expect(ids).toHaveLength(created);
			for (const item of items.filter(({ taskId }) => !taskId)) {
				expect(item).toMatchObject({ error: expect.any(String) });
			}
			expect(JSON.stringify(items.at(-1))).toMatch(/not sent|not created/i);
		},
	);

	it('goes on after a refusal that is about one item alone', async () => {
		pair.service.set({ faultsFor: ({ index: at }) => (at % 2 ? { status: 422 } : {}) });
		const node = { onError: 'continueRegularOutput' };
		const execution = await run(8, { concurrency: 1 }, { node });
		expect(pair.countCreations()).toBe(8);
		expect(execution.getItems(NODE).filter(({ taskId }) => taskId)).toHaveLength(4);
	});
});
