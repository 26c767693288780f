import { sleep } from 'n8n-workflow';
import { endpoints } from './endpointRows';
import { credentials, ok, openService } from './service';

const ANSWER_TIME = 50;

/** A service, and when it was asked. */
function openClock(accessToken: string, answer?: object) {
	const times: number[] = [];
	const rows = Object.values(endpoints);
	const open = async (url: string): Promise<[number, object]> => {
		times.push(Date.now());
		await sleep(ANSWER_TIME);
		return [200, answer ?? ok(rows.find(({ path }) => url.endsWith(path))?.data)];
	};
	return { ...openService(open, { ...credentials, accessToken }), times };
}

beforeEach(() => void jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

it('reads of an account share one turn, 1.1 seconds after the last answer, and nothing else waits', async () => {
	const rows = Object.values(endpoints);
	const [reads, others] = [
		rows.filter(({ sharesRate }) => sharesRate),
		rows.filter(({ sharesRate }) => !sharesRate),
	];
	const services = [openClock('shared'), openClock('shared')];
	const asked = services.flatMap(({ service }) => rows.map(async ({ ask }) => await ask(service)));
	await jest.advanceTimersByTimeAsync(10_000);
	await Promise.all(asked);
	const times = services.flatMap((service) => service.times).sort((one, other) => one - other);
	const turns = Array.from({ length: 2 * reads.length }, (_, turn) => turn * (1_100 + ANSWER_TIME));
	expect(times).toEqual([...Array<number>(2 * others.length).fill(0), ...turns]);
});

it('a read that is rejected for the rate is sent again, for 20 seconds', async () => {
	const { service, times } = openClock('rejected', { code: 429, msg: 'too frequent' });
	const lost = endpoints.downloadUrlPath.ask(service).catch((error: Error) => error.message);
	await jest.advanceTimersByTimeAsync(60_000);
	expect(await lost).toContain('too many requests');
	expect(times.length).toBeGreaterThan(2);
	expect(times.at(-1)).toBeLessThan(31_000);
});
