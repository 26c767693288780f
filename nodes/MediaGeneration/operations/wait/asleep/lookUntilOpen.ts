import type { IWebhookFunctions } from 'n8n-workflow';
import { TaskService } from '../../../api/client';
import type { AcceptedCallback } from '../../../callback/verifyRequest';
import type { WakeReason } from './answers';
import type { Sleeper } from './sleeper';

/** How many tasks are asked for at once, if the first ones have ended. */
const CONCURRENCY = 32;

/**
 * Asks for the task of a callback, then for one other, then for several at once, until one has not
 * ended. Once the wait limit has passed, nothing is asked: the woken run looks.
 */
export async function lookUntilOpen(
	context: IWebhookFunctions,
	sleeper: Sleeper,
	{ taskId, credentials }: AcceptedCallback,
): Promise<{ refusal?: WakeReason }> {
	const { looker } = sleeper;
	const { batch } = looker;
	const source = { service: new TaskService(context, credentials) };
	const getSource = () => source;
	const look = async (ids: string[], concurrency: number) =>
		await looker.look(ids, { getSource, concurrency, untilOpen: true });
	if (sleeper.isDue) return {};
	await look([taskId], 1);
	if (batch.isOpen(taskId))
		return { refusal: batch.failure ? 'detailsUnavailable' : 'taskNotEnded' };
	const [next] = batch.openIds;
	if (next !== undefined) await look([next], 1);
	if (next !== undefined && !batch.isOpen(next)) await look(batch.openIds, CONCURRENCY);
	return {};
}
