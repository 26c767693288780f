import { expect } from '@jest/globals';
import { generate, NODE, numberTexts, prompts } from '../../dev/fixtures/workflows.cts';
import { INSPECTABLE } from '../../dev/n8n/inspect.cts';
import { hurryNudges, usePair } from './support.cts';

/** Sends each callback once. */
const pair = usePair({
	service: {
		taskSeconds: 0.5,
		credits: 1e6,
		callbackRetrySeconds: [],
		faultsFor: ({ input }) => ({ noCallback: String(input.prompt).includes('lost') }),
	},
	env: INSPECTABLE,
	keeps: true,
});

const LOST = numberTexts(6, 'lost');
const EARLY = [...numberTexts(6, 'early #slow=0'), ...numberTexts(6, 'early #slow=0.1')];

/** The executions, by their prompts. All wait for their nudge at the same time. */
const ids = new Map<string[], string>();

beforeAll(async () => {
	await hurryNudges(pair.n8n);
	for (const texts of [LOST, ...EARLY.map((text) => [text])])
		ids.set(texts, await pair.start(prompts(texts), generate()));
});

/** Waits until the executions of these prompts have ended, and returns their output. */
async function waitForItems(isOne: (texts: string[]) => boolean) {
	const output = [];
	for (const [texts, id] of ids)
		if (isOne(texts)) output.push(...(await pair.n8n.waitForExecution(id)).getItems(NODE));
	return output;
}

describe('a nudge', () => {
	it('brings a batch whose callbacks were all lost, with one request for each task or little more', async () => {
		const output = await waitForItems((texts) => texts === LOST);
		expect(output).toMatchObject(pair.listCompleted(...LOST));
		pair.expectNoCallbacks(...LOST);
		const looks = LOST.map((text) => pair.findTask(text).detailsRequests);
		expect(looks.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(LOST.length + 2);
		for (const count of looks) expect(count).toBeGreaterThan(0);
	});

	it('brings tasks whose callback came before n8n had stored the parked execution, and is not sent again', async () => {
		const output = await waitForItems((texts) => texts !== LOST);
		expect(output).toMatchObject(pair.listCompleted(...EARLY));
		const answers = EARLY.flatMap((text) => pair.findTask(text).callbacks);
		expect(answers.some(({ status }) => Number(status) >= 400)).toBe(true);
	});
});
