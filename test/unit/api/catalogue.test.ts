import { sleep, type IHttpRequestOptions, type ILoadOptionsFunctions } from 'n8n-workflow';
import {
	findModelSchema,
	getModelSchema,
	listModels,
} from '../../../nodes/MediaGeneration/api/catalogue';
import { TaskService } from '../../../nodes/MediaGeneration/api/client';
import { KEPT, weigh } from '../../../nodes/MediaGeneration/lib/memory';
import { answerFromCorpus, BROKEN, MINUTE, settle } from '../corpus';

const ANSWER_TIME = 50;
const LIFETIME = 10 * MINUTE;

let accounts = 0;

/** Opens an account that nobody used before. What its service answers can be set; when it was asked is noted. */
function openAccount() {
	const credentials = { baseUrl: 'https://service.example', accessToken: `token ${accounts++}` };
	const requests: Array<{ at: number }> = [];
	async function httpRequestWithAuthentication(_: string, { url }: IHttpRequestOptions) {
		requests.push({ at: Date.now() });
		await sleep(ANSWER_TIME);
		const body = JSON.stringify(account.answer(url.replace(credentials.baseUrl, '')));
		return { statusCode: 200, body };
	}
	const context = { helpers: { httpRequestWithAuthentication } } as unknown;
	const service = new TaskService(context as ILoadOptionsFunctions, credentials);
	const account = {
		requests,
		answer: answerFromCorpus,
		list: async () => await listModels(service),
		readSchema: async (model: string) => await getModelSchema(service, model),
		findSchema: async (model: string) => await findModelSchema(service, model),
	};
	return account;
}

type Account = ReturnType<typeof openAccount>;

/** The one that a test begins with. */
let account: Account;

beforeEach(() => {
	jest.useFakeTimers({ now: 0 });
	account = openAccount();
});
afterEach(() => jest.useRealTimers());

const ways: Array<[string, (account: Account) => Promise<unknown>]> = [
	['the list', async ({ list }) => await list()],
	['a schema', async ({ readSchema }) => await readSchema('eta-upscale')],
];

describe.each(ways)('%s', (_, read) => {
	it('is kept for ten minutes', async () => {
		const first = await settle(read(account));
		jest.setSystemTime(LIFETIME - 1);
		expect(await read(account)).toBe(first);
		expect(account.requests).toHaveLength(1);
		jest.setSystemTime(LIFETIME + ANSWER_TIME);
		await settle(read(account));
		expect(account.requests).toHaveLength(2);
	});

	it('is asked for again after an error, which is not kept', async () => {
		account.answer = () => BROKEN;
		const refused = expect(read(account)).rejects.toThrow('no database');
		await jest.advanceTimersByTimeAsync(ANSWER_TIME);
		await refused;
		account.answer = answerFromCorpus;
		await settle(read(account));
		expect(account.requests).toHaveLength(2);
	});

	it('is another one for another account', async () => {
		const other = openAccount();
		await settle(Promise.all([read(account), read(other)]));
		expect([...account.requests, ...other.requests].map(({ at }) => at)).toEqual([0, 0]);
	});
});

it('answers are kept by their length, the newest ones', async () => {
	const openapi = { text: 'x'.repeat(200_000) };
	account.answer = () => ({ code: 200, data: { openapi } });
	const read = async (index: number) => {
		const answer = account.readSchema(`model-${index}`);
		await jest.advanceTimersByTimeAsync(2_000);
		await answer;
	};
	const room = Math.floor(KEPT.catalogue.most / weigh(openapi));
	for (let index = 0; index <= room; index++) await read(index);
	await read(1);
	await read(room);
	expect(account.requests).toHaveLength(room + 1);
	await read(0);
	expect(account.requests).toHaveLength(room + 2);
});

describe('the description of a model, for a run', () => {
	it('is the one that editors read', async () => {
		const read = await settle(account.readSchema('eta-upscale'));
		expect(await account.findSchema('eta-upscale')).toBe(read);
		expect(account.requests).toHaveLength(1);
	});

	it('is asked for once by all items, and for a minute not again when the service has none', async () => {
		const items = Array.from({ length: 20 }, async () => await account.findSchema('unheard-of'));
		expect(await settle(Promise.all(items))).toEqual(items.map(() => undefined));
		expect(account.requests).toHaveLength(1);
		jest.setSystemTime(MINUTE + ANSWER_TIME - 1);
		await settle(account.findSchema('unheard-of'));
		expect(account.requests).toHaveLength(1);
		await settle(account.findSchema('unheard-of'));
		expect(account.requests).toHaveLength(2);
	});
});
