import { loadMatchedKey, timeRatio } from './timing';

describe('the time that it takes to refuse a wrong signature', () => {
	it('is the same wherever the first wrong byte stands', () => {
		const ratio = timeRatio(loadMatchedKey());
		expect(ratio).toBeGreaterThan(0.7);
		expect(ratio).toBeLessThan(1.4);
	});

	it('would tell where it stands if signatures were compared by ===, and this test would see it', () => {
		expect(timeRatio(loadMatchedKey({ naive: true }))).toBeGreaterThan(2.5);
	});
});
