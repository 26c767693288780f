import { expect } from '@jest/globals';
import { createAndWait, mediaGeneration, NODE, prompts } from '../../dev/fixtures/workflows.cts';
import { readFiles, usePair } from './support.cts';

/** A service that has not all the paths of the credential: it answers 404. */
const pair = usePair({ service: { taskSeconds: 0.5, credits: 1e6 } });

const COMPLETED = { status: 'completed' };
const PATHS = /Base URL.*endpoint paths/;

it('without credits, creates and waits, and says what to check where the credits are asked for', async () => {
	pair.service.set({ balance: false });
	const execution = await pair.runNodes(
		prompts(['one']),
		createAndWait({ downloadResults: true }),
		mediaGeneration({ resource: 'account', operation: 'getCredits' }, { name: 'Credits' }),
	);
	expect(execution.getItems(NODE)).toMatchObject([COMPLETED]);
	expect(Object.keys(execution.getOutput(NODE)[0]?.binary ?? {})).toEqual(['data']);
	expect(execution.readError()).toMatch(PATHS);
});

it.each(['callback', 'polling'])(
	'without details, by %s, brings the ID out at the limit, with the reason',
	async (waitFor) => {
		pair.service.set({ details: false });
		const node = createAndWait({ waitFor, waitLimit: 0.1 });
		const execution = await pair.runNodes(prompts(['one']), node);
		expect(execution.getItems(NODE)).toMatchObject([
			{
				taskId: pair.listIds()[0],
				status: 'timedOut',
				lookError: expect.stringMatching(/not JSON|404|not the expected/),
			},
		]);
		expect(pair.countCreations()).toBe(1);
	},
);

it('without uploads, creates nothing for a file', async () => {
	pair.service.set({ uploads: false });
	const execution = await pair.runNodes(
		...readFiles({ data: 'plain.png' }),
		mediaGeneration({
			operation: 'create',
			model: 'beta2/image-edit',
			image: 'data',
			prompt: 'one',
		}),
	);
	expect(execution.readError()).toMatch(PATHS);
	expect(pair.countCreations()).toBe(0);
});

it('without creation, says what to check, and sends no item after the first', async () => {
	pair.service.set({ creation: false });
	const execution = await pair.runNodes(prompts(3), createAndWait({ options: { concurrency: 1 } }));
	expect(execution.readError()).toMatch(PATHS);
	expect(pair.countCreations()).toBe(1);
	expect(pair.service.tasks.size).toBe(0);
});
