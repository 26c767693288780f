/**
 * Gives each test Jest's clock, which begins at 0, and random numbers in the middle of their range: no pause
 * differs from its length.
 */
export function useSteadyClock(): void {
	beforeEach(() => {
		jest.useFakeTimers({ now: 0 });
		jest.spyOn(Math, 'random').mockReturnValue(0.5);
	});
	afterEach(() => {
		jest.useRealTimers();
		jest.restoreAllMocks();
	});
}
