import { expect } from '@jest/globals';
import { rejectOnce } from '../../dev/fixtures/compareRuns.cts';
import { editSample, NODE, buildPrompts } from '../../dev/fixtures/workflows.cts';
import { usePair } from './support.cts';

/** All ways in which n8n runs the node and repeats it. */
const WAYS = {
	start: { operation: 'start' },
	callback: { options: { howToWait: 'callback' } },
	polling: { options: { howToWait: 'polling' } },
};
const ON_ERROR = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'];
const RETRY = { retryOnFail: true, maxTries: 3, waitBetweenTries: 50 };

/** An expression: whether n8n has stored the ID of a task for the node. Then this call is another try. */
const HAS_PAID = `/[0-9a-f]{32}/.test(JSON.stringify($node["${NODE}"].context))`;

const { sendings, faultsFor } = rejectOnce();
const pair = usePair({
	service: { taskSeconds: 0.3, credits: 1e9, callbackRetrySeconds: [0.3, 0.5, 1, 2, 4], faultsFor },
	keeps: true,
});

it.each(Object.entries(WAYS))(
	'Retry On Fail sends again what was rejected, and nothing that was paid for, though its fields are malformed then: %s',
	async (way, { options, ...parameters }: { options?: object; operation?: string }) => {
		const run = async (onError: string) => {
			// n8n repeats a run that stopped, and one whose first item has an error.
			const kinds = ['rejectedOnce', 'two', 'three'];
			if (onError === 'stopWorkflow') kinds.reverse();
			const texts = kinds.map((kind) => `${kind} ${way} ${onError}`);
			const sample = `${pair.service.filesUrl}/sample.png`;
			const node = editSample(
				pair.service.filesUrl,
				{
					...parameters,
					image: `={{ ${HAS_PAID} && !/rejected/.test($json.prompt) ? 'none' : '${sample}' }}`,
					seed: '={{ Math.floor(Math.random() * 1e9) }}',
					options: { ...options, concurrency: 1 },
				},
				{ ...RETRY, onError },
			);
			const execution = await pair.runNodes(buildPrompts(texts), node);
			expect(execution.readError()).toBe('');
			const sent = texts.map((text) => sendings.get(text));
			expect(sent).toEqual(kinds.map((kind) => (kind === 'rejectedOnce' ? 2 : 1)));
			const status = way === 'start' ? 'pending' : 'completed';
			const tasks = texts.map((text) => ({ taskId: pair.findId(text), status }));
			expect(execution.getItems(NODE)).toMatchObject(tasks);
		};
		await Promise.all(ON_ERROR.map(run));
	},
);
