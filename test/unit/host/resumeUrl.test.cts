import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IExecuteFunctions } from 'n8n-workflow';
import {
	findObstacle,
	isEndedAnswer,
	isResumeUrl,
	readResumeUrl,
} from '../../../nodes/MediaGeneration/host/resumeUrl';
import { fake } from '../n8n';

it('our own segment is put behind the path of n8n, which has its token and maybe a login', () => {
	const evaluateExpression = jest.fn().mockReturnValue('https://me:pw@n8n.example/a/7?signature=x');
	const context = fake<IExecuteFunctions>({ evaluateExpression });
	const expected = 'https://me:pw@n8n.example/a/7/media-generation?signature=x';
	expect(readResumeUrl(context)).toBe(expected);
	expect(evaluateExpression).toHaveBeenCalledWith('{{ $execution.resumeUrl }}', 0);
});

const EXPRESSION = '={{ $execution.resumeUrl }}';
it.each([
	['https://n8n.example/n8n/waiting/7?signature=x', true],
	['https://other.example/n8n/waiting/7/approve', true],
	[EXPRESSION, true],
	['https://n8n.example/webhook/waiting/7', false],
	[{ $execution: 'resumeUrl' }, false],
	[undefined, false],
])('the resume URL of an execution, where n8n has this path for it: %j is one: %s', (value, is) => {
	const additionalData = { webhookWaitingBaseUrl: 'https://me:pw@n8n.example/n8n/waiting' };
	expect(isResumeUrl({ additionalData }, value)).toBe(is);
	expect(isResumeUrl({}, value)).toBe(value === EXPRESSION);
});

// As n8n writes them, with its missing quotation mark.
it.each<[unknown, boolean]>([
	['The execution "7" does not exist.', true],
	['The execution "7 has finished already.', true],
	[
		'The workflow for execution "7" does not contain a waiting webhook with a matching path/method.',
		true,
	],
	['The execution "7" is running already.', false],
	['The requested webhook "POST 7" is not registered.', false],
	['Not Found: The execution "7" does not exist.', false],
	[undefined, false],
])('of n8n, the answer %j says that the execution waits no more: %s', (message, isEnded) => {
	expect(isEndedAnswer({ code: 404, message })).toBe(isEnded);
});

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
