import type { IExecuteFunctions } from 'n8n-workflow';
import type { Task } from '../api/task';
import { cutText } from '../lib/cutText';

/** The longest list of IDs in a span, in characters. */
const LONGEST = 4_000;

/**
 * Gives n8n's OpenTelemetry what the node's span says about these tasks, as `n8n.node.custom.media_generation.…`. n8n stores it with
 * the run, so it is there too when the execution has slept. Where n8n traces nothing, nobody reads it.
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
