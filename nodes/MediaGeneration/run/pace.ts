import type { INodeProperties } from 'n8n-workflow';
import { isOverTasks, isRateLimited } from '../api/failure';
import { CREATION_RATE } from '../api/service';
import { RateLimiters, type RateLimiter } from '../lib/rateLimiter';
import { readNumberOption, type OptionReader } from '../models/field';

const rateOption: INodeProperties = {
	displayName: 'Tasks per 10 Seconds',
	name: 'tasksPer10Seconds',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 10_000, numberPrecision: 0 },
	default: 18,
	description: `How many tasks this run creates within ten seconds at most; 0 sets no limit. All runs with the same account in one n8n process together keep to the largest number among them. Services of this kind usually refuse more than ${CREATION_RATE.most}.`,
};

const concurrencyOption: INodeProperties = {
	displayName: 'Tasks Started at Once',
	name: 'concurrency',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 1_000, numberPrecision: 0 },
	default: 5,
	description: 'How many tasks are created at the same time',
};

export const paceOptions = [rateOption, concurrencyOption];

/** How many tasks are created within ten seconds, and at once. */
export const readPace = (option: OptionReader) => ({
	perTenSeconds: readNumberOption(option, rateOption),
	atOnce: readNumberOption(option, concurrencyOption),
});

/** Of all runs of this process, by account. */
const limiters = new RateLimiters({
	period: CREATION_RATE.period,
	patience: 60_000,
	isTooFast: (error) => isRateLimited(error) && !isOverTasks(error),
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
