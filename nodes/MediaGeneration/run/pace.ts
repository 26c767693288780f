import { isOfKind } from '../api/failure';
import { CREATION_RATE } from '../api/service';
import { RateLimiters, type RateLimiter } from '../lib/rateLimiter';

/** Of all runs of this process, by account. */
const limiters = new RateLimiters('creationRates', {
	period: CREATION_RATE.period,
	patience: 60_000,
	isTooFast: (error) => isOfKind(error, 'rate'),
});

/**
 * Makes a function that runs creations of an account when their turn comes.
 * @param requests the most within ten seconds; 0: any number
 */
export const joinPace = (
	account: string,
	requests: number,
	signal?: AbortSignal,
): ReturnType<RateLimiter['join']> => limiters.of(account).join(requests || Infinity, signal);
