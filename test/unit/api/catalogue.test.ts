import { sleep, type IHttpRequestOptions, type ILoadOptionsFunctions } from 'n8n-workflow';
import { corpus } from '../../../dev/service/catalogue.cts';
import {
	explainRefusal,
	findModelSchema,
	getModelSchema,
	listModels,
} from '../../../nodes/MediaGeneration/api/catalogue';
import { TaskService } from '../../../nodes/MediaGeneration/api/client';
import { answerFromCorpus, BROKEN, MINUTE, MISSING, settle, type Answer } from '../corpus';
import { refuse } from '../n8n';

const ANSWER_TIME = 50;
const LIFETIME = 10 * MINUTE;

const LIMITED: Answer = { code: 429, msg: 'Call frequency is too high' };

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
		explain: async (model: string, error: Error) => ({
			error: await explainRefusal(service, model, error),
		}),
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
		jest.setSystemTime(LIFETIME);
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

	it('is asked for again while the service refuses it for the rate, for 20 seconds', async () => {
		account.answer = () => LIMITED;
		await expect(settle(read(account))).rejects.toThrow('too many requests');
		const { at = 0 } = account.requests.at(-1) ?? {};
		expect(at).toBeGreaterThan(5_000);
		expect(at).toBeLessThan(21_000);
	});

	it('is another one for another account', async () => {
		const other = openAccount();
		await settle(Promise.all([read(account), read(other)]));
		expect([...account.requests, ...other.requests].map(({ at }) => at)).toEqual([0, 0]);
	});
});

it('requests of one account wait 1.1 seconds after the last answer, however many ask for however much', async () => {
	const names = corpus.slice(0, 12).map(({ entry }) => entry.model);
	const asked = [...names, ...names].flatMap((name) => [account.readSchema(name), account.list()]);
	expect(new Set(await settle(Promise.all(asked))).size).toBe(13);
	const times = Array.from({ length: 13 }, (_, index) => index * (ANSWER_TIME + 1_100));
	expect(account.requests.map(({ at }) => at)).toEqual(times);
});

it('two hundred answers are kept, the newest ones', async () => {
	account.answer = () => ({ code: 200, data: { openapi: null } });
	const read = async (index: number) => {
		const answer = account.readSchema(`model-${index}`);
		await jest.advanceTimersByTimeAsync(2_000);
		await answer;
	};
	for (let index = 0; index <= 200; index++) await read(index);
	jest.setSystemTime(LIFETIME - MINUTE);
	await read(1);
	await read(200);
	expect(account.requests).toHaveLength(201);
	await read(0);
	expect(account.requests).toHaveLength(202);
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

describe('a refused input', () => {
	it('of a model that the service does not list says to check its name', async () => {
		const refused = refuse(422, 'model is not known');
		const { error } = await settle(account.explain('eta-upscales', refused));
		expect(error).toMatchObject({
			message: refused.message,
			description:
				'The service lists no model "eta-upscales". Check its name, or choose it from the list.',
			kind: 'input',
			certain: true,
		});
	});

	it.each<[string, string, Error, Account['answer']]>([
		['of a model that is listed', 'eta-upscale', refuse(422), answerFromCorpus],
		['of a service without a list', 'eta-upscales', refuse(422), () => MISSING],
		['for another reason', 'eta-upscales', refuse(402), answerFromCorpus],
	])('%s stays as it is', async (_, model, refused, answer) => {
		account.answer = answer;
		expect((await settle(account.explain(model, refused))).error).toBe(refused);
	});

	it('of a service without a list leads to one look-up a minute', async () => {
		account.answer = () => MISSING;
		for (let asked = 0; asked < 3; asked++) {
			const explained = account.explain('v/m', refuse(422));
			await jest.advanceTimersByTimeAsync(ANSWER_TIME);
			await explained;
		}
		expect(account.requests).toHaveLength(1);
	});
});
