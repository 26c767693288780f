import { settleBy } from '../../../nodes/MediaGeneration/lib/timers';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it.each<[string, Promise<unknown>]>([
	['ends', Promise.resolve(1)],
	['fails', Promise.reject(new Error('failed'))],
])('no timer is left when the work %s', async (_, work) => {
	await settleBy(Date.now() + 60_000, work).catch(() => undefined);
	expect(jest.getTimerCount()).toBe(0);
});
