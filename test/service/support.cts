import { fastify, type FastifyRequest } from 'fastify';
import { startService, type Service, type SettingsInput } from '../../dev/service/index.cts';

interface Answer {
	code: number;
	msg: string;
	data: unknown;
}

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
	await Promise.all(closers.splice(0).map((close) => close()));
});

/** Starts an emulator that ends with the test. Its tasks take 20 ms by default. */
export async function start(settings?: SettingsInput) {
	const service = await startService({ taskSeconds: 0.02, ...settings });
	closers.push(service.close);
	return service;
}

/** Receives callbacks until the test ends, and answers the nth, from 0, with the status `answer(n)`. */
export async function startReceiver(answer: (index: number) => number = () => 200) {
	const received: Array<Pick<FastifyRequest, 'headers' | 'body'>> = [];
	const app = fastify({ forceCloseConnections: true });
	app.post('/callback', async ({ headers, body }, reply) => {
		received.push({ headers, body });
		return reply.code(answer(received.length - 1)).send();
	});
	closers.push(() => app.close());
	const origin = await app.listen({ host: '127.0.0.1', port: 0 });
	return { url: `${origin}/callback`, received };
}

export function call(service: Service, path: string, init: RequestInit = {}) {
	const headers = { Authorization: 'Bearer dev-token', ...init.headers };
	return fetch(service.url + path, { ...init, headers });
}

export const readAnswer = async (response: Response) => (await response.json()) as Answer;

export function postOrder(service: Service, order: object) {
	const headers = { 'Content-Type': 'application/json' };
	const body = JSON.stringify(order);
	return call(service, '/api/v1/jobs/createTask', { method: 'POST', headers, body });
}

export const create = async (service: Service, order: object) =>
	await readAnswer(await postOrder(service, order));

/** Creates a task of a model that takes any input, and returns its ID. */
export async function createTask(service: Service, prompt = '', callBackUrl?: string) {
	const { data } = await create(service, { model: 'custom/any', callBackUrl, input: { prompt } });
	return (data as { taskId: string }).taskId;
}

export const readCredits = async (service: Service) =>
	(await readAnswer(await call(service, '/api/v1/chat/credit'))).data;
