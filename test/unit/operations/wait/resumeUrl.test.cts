import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findObstacle } from '../../../../nodes/MediaGeneration/operations/wait/resumeUrl';

const NOT_THERE = JSON.stringify({ code: 404, message: 'The execution "0" does not exist.' });

/** Runs what answers at a resume URL. */
async function serve(listener: RequestListener) {
	const asked: string[] = [];
	const server = createServer((request, response) => {
		asked.push(`${request.method} ${request.url}`);
		listener(request, response);
	});
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const find = async () => await findObstacle(`${origin}/webhook-waiting/7?signature=key`);
	const stop = () => {
		server.closeAllConnections();
		server.close();
	};
	return { origin, asked, find, stop };
}

/** The answers, and which of them a later run asks for again: after 61 s, and after 6 minutes. */
it.each<[string, RequestListener, string | undefined, number, number]>([
	['n8n', (_, to) => to.writeHead(404).end(NOT_THERE), undefined, 1, 2],
	['a redirect', (_, to) => to.writeHead(302, { location: '/' }).end(), 'it answers 302.', 2, 3],
	[
		'a login',
		(_, to) => to.writeHead(401).end('Who\n <b>are</b> you?'),
		'it answers 401 Who <b>are</b> you?.',
		2,
		3,
	],
	[
		'another 404',
		(_, to) => to.writeHead(404).end('{"message":"x"}'),
		'it answers 404 {"message":"x"}.',
		2,
		3,
	],
	['a page with those words', (_, to) => to.writeHead(200).end(NOT_THERE), 'it answers 200', 2, 3],
	[
		'a long page',
		(_, to) => to.writeHead(200).end('x'.repeat(99)),
		`it answers 200 ${'x'.repeat(79)}….`,
		2,
		3,
	],
	['nobody', (_, to) => to.destroy(), "it can't be reached (UND_ERR_SOCKET).", 2, 3],
])(
	'%s at the resume URL is recognized, and kept for a while',
	async (_, listener, expected, soon, late) => {
		const { asked, find, stop, origin } = await serve(listener);
		const now = jest.spyOn(Date, 'now');
		const begun = Date.now();
		try {
			const [obstacle] = await Promise.all([find(), find()]);
			expect(await find()).toBe(obstacle);
			expect(asked).toEqual(['POST /webhook-waiting/0']);
			if (expected === undefined) expect(obstacle).toBeUndefined();
			else {
				expect(obstacle).toContain(expected);
				expect(obstacle).toContain(`callbacks to ${origin}/webhook-waiting/ would not arrive`);
				expect(obstacle).not.toContain('key');
			}
			now.mockReturnValue(begun + 61_000);
			await find();
			expect(asked).toHaveLength(soon);
			now.mockReturnValue(begun + 361_000);
			await find();
			expect(asked).toHaveLength(late);
		} finally {
			now.mockRestore();
			stop();
		}
	},
);

it('an address that does not answer is asked again each time', async () => {
	jest.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
		expect(milliseconds).toBe(3_000);
		return AbortSignal.abort();
	});
	const { find, stop } = await serve(() => {});
	const fetched = jest.spyOn(globalThis, 'fetch');
	try {
		expect(await find()).toContain('it does not answer within 3 seconds');
		await find();
		expect(fetched).toHaveBeenCalledTimes(2);
	} finally {
		jest.restoreAllMocks();
		stop();
	}
});
