/** Measures the milliseconds of processor time of a run: on a busy machine it takes longer. */
export async function measureCpu(run: () => unknown): Promise<number> {
	const before = process.cpuUsage();
	await run();
	return process.cpuUsage(before).user / 1_000;
}
