import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { isUnderway, wasDelivered } from '../../../nodes/MediaGeneration/host/delivery';

let server: http.Server;
beforeEach(async () => {
	server = http.createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
});
afterEach(() => {
	server.closeAllConnections();
	server.close();
});

/** Sends a request to a webhook that has not answered yet. */
async function open() {
	const { port } = server.address() as AddressInfo;
	const sender = http.request({ port, host: '127.0.0.1' }).end();
	sender.on('error', () => {});
	const [, response] = (await once(server, 'request')) as [unknown, http.ServerResponse];
	return { sender, response };
}

const answer = (response: http.ServerResponse, status: number) =>
	response.writeHead(status, { 'content-type': 'application/json' }).end('{}');

const read = (response: http.ServerResponse) => [isUnderway(response), wasDelivered(response)];

describe.each([
	[200, true],
	[500, false],
])('a delivery is under way until n8n answers %d', (status, isDelivered) => {
	it('which says whether it was delivered', async () => {
		const { response } = await open();
		expect(read(response)).toEqual([true, false]);
		answer(response, status);
		expect(read(response)).toEqual([false, isDelivered]);
	});

	it('also if the sender hung up before', async () => {
		const { sender, response } = await open();
		sender.destroy();
		await once(response, 'close');
		expect(response.statusCode).toBe(200);
		expect(read(response)).toEqual([true, false]);
		answer(response, status);
		expect(read(response)).toEqual([false, isDelivered]);
	});
});
