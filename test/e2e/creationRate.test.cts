import { postJson, runConcurrently } from '../../dev/fixtures/callbacks.cts';
import { connect, generate, numberTexts, webhook } from '../../dev/fixtures/workflows.cts';
import { usePair } from './support.cts';

/** As services of this kind have it. The node's default is lower. */
const LIMIT = 20;
const COUNT = 60;

const pair = usePair({ service: { creationsPer10Seconds: LIMIT, credits: 1e6, callbacks: false } });

it('60 executions of one item each share the rate of their account: no creation is refused, and none fails', async () => {
	const node = generate({
		operation: 'start',
		anyInput: '={{ { prompt: $json.body.prompt } }}',
		// Absent, so that the node's default counts.
		options: { tasksPer10Seconds: undefined },
	});
	const { id, url } = await pair.activate(connect('Rate', [webhook(), node]));
	const texts = numberTexts(COUNT);
	await runConcurrently(texts, COUNT, async (prompt) => await postJson(url, { prompt }));
	const executions = await pair.n8n.waitForExecutions({ workflowId: id, count: COUNT });
	expect(executions.map(({ status }) => status)).toEqual(Array(COUNT).fill('success'));
	expect(pair.listPrompts()).toEqual([...texts].sort());
	expect(pair.countCreations()).toBe(COUNT);
	// Without the limiter, all would have been sent at once.
	const times = pair.listTasks().map(({ createTime }) => createTime);
	expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(20_000);
});
