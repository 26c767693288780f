import { sleep } from 'n8n-workflow';
import type { TaskService } from '../../../nodes/MediaGeneration/api/client';
import { credentials, ok, openService, REQUEST, SETTINGS } from './service';

const ANSWER_TIME = 50;
const LINK = 'https://files.example/a.png';

/** An answer that each method takes for a success. */
const data = { taskId: 'task', state: 'success', models: [], openapi: null, fileUrl: LINK };

/** A service, and when it was asked. */
function openClock(accessToken: string, answer?: object) {
	const times: number[] = [];
	const open = async (url: string): Promise<[number, object]> => {
		times.push(Date.now());
		await sleep(ANSWER_TIME);
		const said = url.endsWith('download-url') ? LINK : url.endsWith('credit') ? 5 : data;
		return [200, answer ?? ok(said)];
	};
	return { ...openService(open, { ...credentials, accessToken }), times };
}

type Ask = (service: TaskService) => Promise<unknown>;
const askForLink: Ask = async (service) => await service.getDownloadUrl(LINK, SETTINGS);
const lookUps: Ask[] = [
	async (service) => await service.listModels(SETTINGS),
	async (service) => await service.getModelSchema('a/b', SETTINGS),
	askForLink,
];
const others: Ask[] = [
	async (service) => await service.createTask(REQUEST, SETTINGS),
	async (service) => await service.getTask('task', SETTINGS),
	async (service) => await service.getCredits(SETTINGS),
	async (service) => await service.uploadFromUrl('a.png', LINK, SETTINGS),
];

beforeEach(() => void jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

it('look-ups of an account share one turn, 1.1 seconds after the last answer, and nothing else waits', async () => {
	const services = [openClock('shared'), openClock('shared')];
	const asked = services.flatMap(({ service }) =>
		[...lookUps, ...others].map(async (ask) => await ask(service)),
	);
	await jest.advanceTimersByTimeAsync(10_000);
	await Promise.all(asked);
	const times = services.flatMap((service) => service.times).sort((one, other) => one - other);
	const turns = [0, 1, 2, 3, 4, 5].map((turn) => turn * (1_100 + ANSWER_TIME));
	expect(times).toEqual([...Array<number>(2 * others.length).fill(0), ...turns]);
});

it('a look-up that is refused for the rate is sent again, for 20 seconds', async () => {
	const { service, times } = openClock('refused', { code: 429, msg: 'too frequent' });
	const lost = askForLink(service).catch((error: Error) => error.message);
	await jest.advanceTimersByTimeAsync(60_000);
	expect(await lost).toContain('too many requests');
	expect(times.length).toBeGreaterThan(2);
	expect(times.at(-1)).toBeLessThan(31_000);
});
