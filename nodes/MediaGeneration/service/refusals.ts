import type { IWebhookFunctions } from 'n8n-workflow';

/** Seconds in which a node logs one line for each reason. */
const QUIET_SECONDS = 60;

/** Nodes times reasons whose last line is remembered, at the most. */
const LIMIT = 1_000;

/** When a line was logged last, by node and reason, and how many refusals were not logged since. */
const lines = new Map<string, { since: number; unlogged: number }>();

/** What sender and owner are told of a refusal. All of it is ours: nothing that a sender chose, save the time that it gave. */
export interface Refused {
	status: number;
	reason: string;
	message: string;
	clockDifferenceSeconds?: number;
}

/**
 * Tells the owner in n8n's log why a callback was refused, at a level that n8n logs by default. Anyone can send callbacks, so
 * a flood of them gives one line a minute for each of the few reasons.
 */
export function logRefusal(
	context: Pick<IWebhookFunctions, 'logger' | 'getNode' | 'getWorkflow'>,
	{ status, reason, message, clockDifferenceSeconds }: Refused,
): void {
	const now = Date.now() / 1000;
	const key = `${context.getWorkflow().id}:${context.getNode().id}:${reason}`;
	const last = lines.get(key);
	if (last && now - last.since < QUIET_SECONDS) {
		last.unlogged++;
		return;
	}
	lines.delete(key);
	lines.set(key, { since: now, unlogged: 0 });
	const [oldest] = lines.keys();
	if (lines.size > LIMIT && oldest !== undefined) lines.delete(oldest);
	const facts = [
		`${status} ${reason}`,
		clockDifferenceSeconds !== undefined &&
			`${Math.abs(clockDifferenceSeconds)} s ${clockDifferenceSeconds < 0 ? 'behind' : 'ahead of'} the clock here`,
		last?.unlogged && `${last.unlogged} more since the last line`,
	];
	context.logger.warn(
		`"${context.getNode().name}" refused a callback: ${message} (${facts.filter(Boolean).join('; ')}). Task: Verify Callback of the Media Generation node says more.`,
		{ workflowId: context.getWorkflow().id },
	);
}
