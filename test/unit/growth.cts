/** How much longer a pass may take by chance, in milliseconds. */
const NOISE = 5;

/** At most three times as long for each time the work is twice as much. Quadratic work takes 16 times as long for both. */
export const LINEAR = 3 ** 2;

/** Takes the processor's time, in milliseconds: a busy machine interrupts a long pass more often than a short one. */
function time(run: () => unknown): number {
	const before = process.cpuUsage();
	run();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}

/**
 * Measures how many times as long four times the work takes. A busy machine disturbs a measurement, most of all one of a few
 * milliseconds, so the best of thirty counts.
 */
export function measureGrowth(prepare: (size: number) => () => unknown, size: number): number {
	const [quarter, whole] = [prepare(size / 4), prepare(size)];
	const best = (run: () => unknown) => Math.min(...Array.from({ length: 3 }, () => time(run)));
	const ratios = [];
	do ratios.push((best(whole) - NOISE) / Math.max(best(quarter), 0.1));
	while (ratios.length < 30 && Math.min(...ratios) > LINEAR);
	return Math.min(...ratios);
}
