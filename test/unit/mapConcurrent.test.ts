import { limitConcurrency } from '../../nodes/MediaGeneration/operations/mapConcurrent';

describe('limitConcurrency', () => {
	it('runs so many at once, in the order in which they come', async () => {
		const inTurn = limitConcurrency(2);
		const begun: number[] = [];
		const ends: Array<() => void> = [];
		const all = [0, 1, 2, 3].map(
			async (number) =>
				await inTurn(async () => {
					begun.push(number);
					await new Promise<void>((end) => (ends[number] = end));
					return number;
				}),
		);
		expect(begun).toEqual([0, 1]);
		ends[1]?.();
		await all[1];
		expect(begun).toEqual([0, 1, 2]);
		ends[0]?.();
		await all[0];
		expect(begun).toEqual([0, 1, 2, 3]);
		ends[2]?.();
		ends[3]?.();
		expect(await Promise.all(all)).toEqual([0, 1, 2, 3]);
	});

	it('has room again after one that throws', async () => {
		const inTurn = limitConcurrency(1);
		const broken = inTurn(async () => await Promise.reject(new Error('broken')));
		await expect(broken).rejects.toThrow('broken');
		expect(await inTurn(async () => await Promise.resolve('next'))).toBe('next');
	});
});
