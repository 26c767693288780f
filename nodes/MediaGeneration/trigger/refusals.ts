import type { IWebhookFunctions } from 'n8n-workflow';

/** Seconds in which a trigger logs one line for each reason. */
const QUIET_SECONDS = 60;

/** Triggers times reasons whose last line is remembered, at the most. */
const LIMIT = 1_000;

/** When a line was logged last, by trigger and reason, and how many refusals were not logged since. */
const lines = new Map<string, { since: number; unlogged: number }>();

/** What the owner is told of a refusal. All of it is ours: nothing that a sender chose, save the time that it gave. */
export interface Refused {
	status: number;
	reason: string;
	message: string;
	clockDifferenceSeconds?: number;
}

/**
 * Tells the owner in n8n's log why a callback was refused, at a level that n8n logs by default. Anyone can send callbacks, so
 * a flood of them gives one line a minute for each of the few reasons.
 * @param trigger identifies the trigger among all that run here
 * @param now seconds since 1970
 */
export function logRefusal(
	context: Pick<IWebhookFunctions, 'logger' | 'getNode' | 'getWorkflow'>,
	trigger: string,
	{ status, reason, message, clockDifferenceSeconds }: Refused,
	now: number,
): void {
	const key = `${trigger}:${reason}`;
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
