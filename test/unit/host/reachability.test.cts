import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findAnswerer } from '../../../nodes/MediaGeneration/host/reachability';

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
	const find = async () => await findAnswerer(`${address}7/media-generation?signature=key`, 3_000);
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

const page = (status: number, text: string) => ({ who: 'other', status, text });

it.each<[string, RequestListener, object]>([
	['n8n', answer(404, NOT_THERE), { who: 'n8n' }],
	['a redirect', answer(302, ''), page(302, '')],
	['a login', answer(401, 'Who are you?'), page(401, 'Who are you?')],
	['another 404', answer(404, '{"message":"x"}'), page(404, '{"message":"x"}')],
	['a page with those words', answer(200, NOT_THERE), page(200, NOT_THERE)],
	[
		'nobody',
		(_, response) => response.destroy(),
		{ who: 'nobody', silence: { code: 'UND_ERR_SOCKET' } },
	],
])('%s at the resume URL is recognized, and kept for a minute', async (_, listener, expected) => {
	const { asked, find, stop, address } = await serve(listener);
	const now = jest.spyOn(Date, 'now');
	const begun = Date.now();
	try {
		const [answerer] = await Promise.all([find(), find()]);
		expect(await find()).toBe(answerer);
		expect(asked).toEqual(['POST /webhook-waiting/0/media-generation']);
		expect(answerer).toEqual({ address, ...expected });
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
