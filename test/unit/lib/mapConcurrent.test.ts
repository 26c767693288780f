import { sleep } from 'n8n-workflow';
import { limitConcurrency, mapConcurrent } from '../../../nodes/MediaGeneration/lib/mapConcurrent';

describe('mapConcurrent', () => {
	it('keeps the order', async () => {
		const run = async (entry: number) => await sleep(entry).then(() => entry * 2);
		expect(await mapConcurrent([5, 1, 3], run, { concurrency: 2 })).toEqual([10, 2, 6]);
	});

	it('begins nothing more after a result that ends it', async () => {
		const options = { concurrency: 1, afterEach: (result: number) => result === 2 };
		const results = await mapConcurrent([1, 2, 3, 4], async (entry) => entry, options);
		expect(results).toEqual([1, 2, undefined, undefined]);
	});
});

describe('limitConcurrency', () => {
	it('runs up to the limit at once, in the order they come', async () => {
		const inTurn = limitConcurrency(2);
		const begun: number[] = [];
		const ends: Array<() => void> = [];
		const run = async (number: number) => {
			begun.push(number);
			await new Promise<void>((end) => (ends[number] = end));
			return number;
		};
		const all = [0, 1, 2].map(async (number) => await inTurn(async () => await run(number)));
		expect(begun).toEqual([0, 1]);
		ends[1]?.();
		await all[1];
		expect(begun).toEqual([0, 1, 2]);
		ends[0]?.();
		ends[2]?.();
		expect(await Promise.all(all)).toEqual([0, 1, 2]);
	});

	it('has room again after one that throws', async () => {
		const inTurn = limitConcurrency(1);
		const broken = inTurn(async () => await Promise.reject(new Error('broken')));
		await expect(broken).rejects.toThrow('broken');
		expect(await inTurn(async () => await Promise.resolve('next'))).toBe('next');
	});
});
