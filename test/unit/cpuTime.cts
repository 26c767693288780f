/** Measures the processor time of a function, in milliseconds. On a busy machine, the clock would say more. */
export async function measureCpu(run: () => unknown): Promise<number> {
	const before = process.cpuUsage();
	await run();
	return process.cpuUsage(before).user / 1_000;
}
