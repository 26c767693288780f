import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findObstacle } from '../../../../nodes/MediaGeneration/operations/wait/findObstacle';

const NOT_THERE = JSON.stringify({ code: 404, message: 'The execution "0" does not exist.' });

/** Runs what answers at a resume URL. */
async function serve(listener: RequestListener) {
	const asked: string[] = [];
	const server = createServer((request, response) => {
		asked.push(`${request.method} ${request.url}`);
		listener(request, response);
	});
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook-waiting/`;
	const find = async () => await findObstacle(`${address}7/media-generation?signature=key`);
	const stop = () => {
		server.closeAllConnections();
		server.close();
	};
	return { address, asked, find, stop };
}

const answer =
	(status: number, body: string): RequestListener =>
	(_, response) =>
		response.writeHead(status, { location: '/' }).end(body);

it.each<[string, RequestListener, string | undefined]>([
	['n8n', answer(404, NOT_THERE), undefined],
	['a redirect', answer(302, ''), 'it answers 302.'],
	['a login', answer(401, 'Who\n <b>are</b> you?'), 'it answers 401 Who <b>are</b> you?.'],
	['another 404', answer(404, '{"message":"x"}'), 'it answers 404 {"message":"x"}.'],
	['a page with those words', answer(200, NOT_THERE), 'it answers 200'],
	['a long page', answer(200, 'x'.repeat(99)), `it answers 200 ${'x'.repeat(79)}….`],
	['nobody', (_, response) => response.destroy(), "it can't be reached (UND_ERR_SOCKET)."],
])('%s at the resume URL is recognized, and kept for a while', async (_, listener, expected) => {
	const { asked, find, stop, address } = await serve(listener);
	const now = jest.spyOn(Date, 'now');
	const begun = Date.now();
	try {
		const [obstacle] = await Promise.all([find(), find()]);
		expect(await find()).toBe(obstacle);
		expect(asked).toEqual(['POST /webhook-waiting/0/media-generation']);
		if (expected === undefined) expect(obstacle).toBeUndefined();
		else {
			expect(obstacle).toContain(`callbacks to ${address} would not arrive: ${expected}`);
			expect(obstacle).not.toContain('key');
		}
		const keptFor = expected === undefined ? 5 * 60_000 : 60_000;
		now.mockReturnValue(begun + keptFor - 100);
		await find();
		expect(asked).toHaveLength(1);
		now.mockReturnValue(begun + keptFor + 30_000);
		await find();
		expect(asked).toHaveLength(2);
	} finally {
		now.mockRestore();
		stop();
	}
});

it('an address that does not answer is asked again each time', async () => {
	jest.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
		expect(milliseconds).toBe(3_000);
		return AbortSignal.abort();
	});
	const fetched = jest.spyOn(globalThis, 'fetch');
	for (const requests of [1, 2]) {
		const obstacle = await findObstacle('https://n8n.example/webhook-waiting/7/media-generation');
		expect(obstacle).toContain('it does not answer within 3 seconds');
		expect(fetched).toHaveBeenCalledTimes(requests);
	}
	jest.restoreAllMocks();
});
