import { startService, type Service, type SettingsInput } from '../../dev/service/index.cts';

interface Answer {
	code: number;
	msg: string;
	data: unknown;
}

const started: Service[] = [];
afterEach(async () => {
	await Promise.all(started.splice(0).map((service) => service.close()));
});

/** Starts an emulator that ends with the test. Its tasks take 20 ms by default. */
export async function start(settings?: SettingsInput) {
	const service = await startService({ taskSeconds: 0.02, readSeconds: 0, ...settings });
	started.push(service);
	return service;
}

export function send(service: Service, path: string, init: RequestInit = {}) {
	const headers = { Authorization: 'Bearer dev-token', ...init.headers };
	return fetch(service.url + path, { ...init, headers });
}

export const readAnswer = async (response: Response) => (await response.json()) as Answer;

export async function readDetails(service: Service, taskId: string) {
	const headers = { 'Content-Type': 'application/json' };
	const response = await send(service, `/api/v1/jobs/recordInfo?taskId=${taskId}`, { headers });
	return (await readAnswer(response)).data as Record<string, unknown>;
}

export async function create(service: Service, body: object) {
	const headers = { 'Content-Type': 'application/json' };
	const init = { method: 'POST', headers, body: JSON.stringify(body) };
	return await readAnswer(await send(service, '/api/v1/jobs/createTask', init));
}
