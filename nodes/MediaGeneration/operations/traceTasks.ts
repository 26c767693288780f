import type { IExecuteFunctions } from 'n8n-workflow';
import type { Task } from '../api/task';
import { cutText } from '../lib/text';

/** The longest list of IDs in a span, in characters. */
const LONGEST = 4_000;

/**
 * Adds these tasks to the node's span in n8n's OpenTelemetry, as `n8n.node.custom.media_generation.…`. n8n stores it with the run,
 * so it is also there after a sleep. Without tracing it has no effect.
 */
export function traceTasks(context: IExecuteFunctions, tasks: Task[]): void {
	if (!tasks.length) return;
	const models = new Set(tasks.flatMap(({ model }) => model ?? []));
	context.setMetadata({
		tracing: {
			'media_generation.task_ids': cutText(tasks.map(({ taskId }) => taskId).join(', '), LONGEST),
			'media_generation.model': cutText([...models].join(', '), LONGEST),
		},
	});
}

/** Adds to the node's span what its tasks cost. The webhook that resumes an execution can't add it. */
export const traceCredits = (context: IExecuteFunctions, credits: number): void =>
	context.setMetadata({ tracing: { 'media_generation.credits': credits } });
