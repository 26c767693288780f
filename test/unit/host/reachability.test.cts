import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findObstacle } from '../../../nodes/MediaGeneration/host/reachability';

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
	const find = async () => await findObstacle(`${address}7/media-generation?signature=key`, 3_000);
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
	['a login', answer(401, 'Who are you?'), 'it answers 401.'],
	['another 404', answer(404, '{"message":"x"}'), 'it answers 404.'],
	['a page with those words', answer(200, NOT_THERE), 'it answers 200.'],
	['nobody', (_, response) => response.destroy(), "it can't be reached (UND_ERR_SOCKET)."],
])('%s at the resume URL is recognized, and kept for a minute', async (_, listener, expected) => {
	const { asked, find, stop, address } = await serve(listener);
	const now = jest.spyOn(Date, 'now');
	const begun = Date.now();
	try {
		const [obstacle] = await Promise.all([find(), find()]);
		expect(await find()).toBe(obstacle);
		expect(asked).toEqual(['POST /webhook-waiting/0/media-generation']);
		const told = `callbacks to ${address} would not arrive: ${expected} Let the proxy`;
		expect(obstacle?.slice(0, told.length)).toBe(expected && told);
		now.mockReturnValue(begun + 60_000 - 100);
		await find();
		expect(asked).toHaveLength(1);
		now.mockReturnValue(begun + 60_000 + 30_000);
		await find();
		expect(asked).toHaveLength(2);
	} finally {
		now.mockRestore();
		stop();
	}
});
