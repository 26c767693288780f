import { openRecord } from '../../../nodes/MediaGeneration/run/open';
import { buildContext, type Run } from '../n8n';

const REQUEST = { model: 'beta2/image-edit', input: { prompt: 'Night' } };

it.each<[string, Run]>([
	['woken run', {}],
	['retry from the list', { executionId: '2' }],
])('a %s that is stopped names its tasks, though it created none', (_, again) => {
	const kept = {};
	const customData = new Map<string, string>();
	const open = (run: Run) =>
		openRecord(
			buildContext(
				{ kept, ...run },
				{ getWorkflowDataProxy: () => ({ $runIndex: 0, $execution: { customData } }) },
			),
		);
	open({}).addTask(0, REQUEST, 'task');
	// n8n stores the record, and another process goes on with it.
	const { signal, stop } = newStop();
	open({ ...again, signal }).findSame(0, REQUEST);
	expect(customData.size).toBe(0);
	stop();
	expect([...customData.values()]).toEqual(['task']);
});

function newStop() {
	const controller = new AbortController();
	return { signal: controller.signal, stop: () => controller.abort() };
}
