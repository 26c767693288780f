import { sleep } from 'n8n-workflow';
import { pause, settleBy } from '../../../nodes/MediaGeneration/lib/timers';

jest.mock('n8n-workflow', () => {
	const n8n = jest.requireActual<{ sleep: typeof sleep }>('n8n-workflow');
	return { ...n8n, sleep: jest.fn(n8n.sleep) };
});

beforeEach(() => void jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it.each<[string, Promise<unknown>]>([
	['ends', Promise.resolve(1)],
	['fails', Promise.reject(new Error('failed'))],
])('no timer is left when the work %s', async (_, work) => {
	await settleBy(Date.now() + 60_000, work).catch(() => undefined);
	expect(jest.getTimerCount()).toBe(0);
});

describe.each(['with', 'without'])('%s a signal in the sleep of n8n', (which) => {
	const real = jest.mocked(sleep).getMockImplementation() as typeof sleep;
	beforeEach(() => {
		// As of 2.14.2.
		if (which === 'without') jest.mocked(sleep).mockImplementation(async (ms) => await real(ms));
	});
	afterEach(() => void jest.mocked(sleep).mockImplementation(real));

	it('a pause ends when it is aborted, with the reason', async () => {
		const over = new AbortController();
		const reason = new Error('over');
		const paused = pause(60_000, over.signal);
		const ended = expect(paused).rejects.toBe(reason);
		over.abort(reason);
		await jest.advanceTimersByTimeAsync(0);
		const isLate = expect(pause(1_000, over.signal)).rejects.toBe(reason);
		await jest.advanceTimersByTimeAsync(60_000);
		await ended;
		await isLate;
	});

	it('a pause ends in time', async () => {
		const { signal } = new AbortController();
		const ended = jest.fn();
		void pause(1_000, signal).then(ended);
		await jest.advanceTimersByTimeAsync(999);
		expect(ended).not.toHaveBeenCalled();
		await jest.advanceTimersByTimeAsync(1);
		expect(ended).toHaveBeenCalled();
	});
});
