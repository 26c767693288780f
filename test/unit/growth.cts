/** How much longer a pass may take by chance, in milliseconds. */
const NOISE = 5;

/** At most three times as long for each time the work is twice as much. Quadratic work takes 64 times as long for all three. */
export const LINEAR = 3 ** 3;

function time(run: () => unknown): number {
	const begun = performance.now();
	run();
	return performance.now() - begun;
}

/**
 * Measures how many times as long eight times the work takes. A busy machine disturbs a measurement, most of all one of a few
 * milliseconds, so the best of ten counts.
 */
export function measureGrowth(prepare: (size: number) => () => unknown, size: number): number {
	const [eighth, whole] = [prepare(size / 8), prepare(size)];
	const best = (run: () => unknown) => Math.min(...Array.from({ length: 3 }, () => time(run)));
	const ratios = [];
	do ratios.push((best(whole) - NOISE) / best(eighth));
	while (ratios.length < 10 && Math.min(...ratios) > LINEAR);
	return Math.min(...ratios);
}
