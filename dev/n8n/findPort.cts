import getPort from 'get-port';

/** Below 32768: Linux gives higher ports to outgoing connections, which may take the port of a restarting process. */
const LOWEST = 20_000;
const HIGHEST = 32_000;
const CHOICE = 100;

/** Finds a free port that no outgoing connection takes. Tests that run side by side look in different places. */
export async function findPort(): Promise<number> {
	const from = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST - CHOICE));
	return await getPort({ port: getPort.makeRange(from, from + CHOICE) });
}
