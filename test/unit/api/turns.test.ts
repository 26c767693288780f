import { sleep, type IExecuteFunctions } from 'n8n-workflow';
import { TaskService } from '../../../nodes/MediaGeneration/api/client';
import { fake } from '../n8n';

const SETTINGS = { timeoutSeconds: 5 };
const ANSWER_TIME = 50;
const LINK = 'https://files.example/a.png';

/** An answer that each method takes for a success. */
const data = { taskId: 'task', state: 'success', models: [], openapi: null, fileUrl: LINK };

let accounts = 0;

/** A service whose account nobody used before. It notes when it was asked. */
function openService(how: { refuses?: () => boolean; token?: string } = {}) {
	const { refuses = () => false, token = `turn ${accounts++}` } = how;
	const times: number[] = [];
	const stop = new AbortController();
	const context = fake<IExecuteFunctions>({
		getExecutionCancelSignal: () => stop.signal,
		helpers: {
			async httpRequestWithAuthentication(_type: string, { url }: { url: string }) {
				times.push(Date.now());
				await sleep(ANSWER_TIME);
				if (refuses()) return { statusCode: 200, body: { code: 429, msg: 'too frequent' } };
				const said = url.endsWith('download-url') ? LINK : url.endsWith('credit') ? 5 : data;
				return { statusCode: 200, body: { code: 200, data: said } };
			},
		},
	});
	const credentials = { baseUrl: 'https://api.example', accessToken: token };
	const service = new TaskService(context, credentials);
	return { service, times, stop };
}

type Ask = (service: TaskService) => Promise<unknown>;
const askForLink: Ask = async (service) => await service.getDownloadUrl(LINK, SETTINGS);
const lookUps: Ask[] = [
	async (service) => await service.listModels(SETTINGS),
	async (service) => await service.getModelSchema('a/b', SETTINGS),
	askForLink,
];
const others: Ask[] = [
	async (service) => await service.createTask({ model: 'a/b', input: {} }, SETTINGS),
	async (service) => await service.getTask('task', SETTINGS),
	async (service) => await service.getTaskRecord('task', SETTINGS),
	async (service) => await service.getCredits(SETTINGS),
	async (service) => await service.uploadFromUrl('a.png', LINK, SETTINGS),
];

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

it('look-ups of an account share one turn, 1.1 seconds after the last answer, whoever asks', async () => {
	const token = 'shared';
	const services = [openService({ token }), openService({ token })];
	const asked = services.flatMap(({ service }) => lookUps.map(async (ask) => await ask(service)));
	await jest.advanceTimersByTimeAsync(10_000);
	await Promise.all(asked);
	const times = services.flatMap(({ times }) => times);
	expect(times).toEqual([0, 1, 2, 3, 4, 5].map((turn) => turn * (1_100 + ANSWER_TIME)));
});

it('nothing else waits for it', async () => {
	const { service, times } = openService();
	const asked = [...lookUps, ...others].map(async (ask) => await ask(service));
	await jest.advanceTimersByTimeAsync(10_000);
	await Promise.all(asked);
	expect(times.filter((time) => time === 0)).toHaveLength(1 + others.length);
});

it('a look-up that is refused for the rate is sent again, for 20 seconds', async () => {
	const { service, times } = openService({ refuses: () => true });
	const lost = askForLink(service).catch((error: Error) => error.message);
	await jest.advanceTimersByTimeAsync(60_000);
	expect(await lost).toContain('too many requests');
	expect(times.length).toBeGreaterThan(2);
	expect(times.at(-1)).toBeLessThan(31_000);
});
