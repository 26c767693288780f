import { sleep, type IExecuteFunctions } from 'n8n-workflow';
import { readDeadline } from '../../host/deadline';
import { LONGEST_PAUSE, settleBy } from '../../lib/timers';
import type { Looker, Source } from './look';
import { sayEndedEarly } from './output';
import { PAUSES_AWAKE, planAwake, type AwakeTimes } from './timetable';

type GetSource = (taskId: string) => Source;

/**
 * Waits awake: looks at all tasks together until they have ended, the limit passes, the execution is
 * stopped, or n8n would soon end it. Then it waits for the files.
 * @param until the wait limit, in milliseconds since 1970
 */
export async function waitAwake(
	context: IExecuteFunctions,
	looker: Looker,
	{ getSource, until }: { getSource: GetSource; until: number },
): Promise<void> {
	const times = planAwake(Date.now(), until, readDeadline(context));
	await lookUntilEnded(looker, getSource, times, context.getExecutionCancelSignal());
	if (!looker.known.haveEnded && times.filesBy < until) sayEndedEarly(context);
	await settleBy(times.filesBy, looker.collectFiles(getSource));
}

/** Looks with pauses that grow. While the service refuses requests for their rate, they are longest. */
async function lookUntilEnded(
	looker: Looker,
	getSource: GetSource,
	{ lastLook, end }: AwakeTimes,
	stopped?: AbortSignal,
): Promise<void> {
	const { known } = looker;
	const { first, growth, longest } = PAUSES_AWAKE;
	const over = new AbortController();
	const givenUp = waitForEnd(end, over, stopped);
	let pause = first;
	let at = -Infinity;
	while (!known.haveEnded && at < lastLook) {
		// By chance, so that runs that began together don't look together.
		at = Math.min(Date.now() + pause * (0.75 + Math.random() / 2), lastLook);
		await Promise.race([sleep(at - Date.now()), givenUp]);
		if (over.signal.aborted) break;
		const look = looker.look(known.openIds, { getSource, signal: over.signal });
		await Promise.race([look, givenUp]);
		pause = known.failure?.isRateLimited ? longest : Math.min(pause * growth, longest);
	}
	over.abort();
}

/** Ends when time is over or the execution is stopped, and aborts `over` then. */
async function waitForEnd(
	end: number,
	over: AbortController,
	stopped?: AbortSignal,
): Promise<void> {
	const stop = () => over.abort();
	if (stopped?.aborted) stop();
	stopped?.addEventListener('abort', stop, { once: true });
	await sleep(Math.min(end - Date.now(), LONGEST_PAUSE), over.signal).catch(stop);
	stop();
}
