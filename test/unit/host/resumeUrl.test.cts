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
	[undefined, false],
])('whether a value is a resume URL, by the path that n8n has for one: %j: %s', (value, is) => {
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
	[undefined, false],
])('whether the answer %j of n8n says that the execution waits no more: %s', (message, isEnded) => {
	expect(isEndedAnswer({ code: 404, message })).toBe(isEnded);
});

describe('what answers at the resume URL', () => {
	const NOT_THERE = JSON.stringify({ code: 404, message: 'The execution "0" does not exist.' });
	const answer = (status: number, body: string) => async () => new Response(body, { status });
	afterEach(() => jest.restoreAllMocks());

	it.each<[string, () => Promise<Response>, string | undefined]>([
		['n8n', answer(404, NOT_THERE), undefined],
		['a redirect', answer(302, ''), 'it answers 302.'],
		['a page with those words', answer(200, NOT_THERE), 'it answers 200.'],
		[
			'nobody',
			async () => await Promise.reject(new Error()),
			"it can't be reached (no connection).",
		],
	])('%s is recognized, and remembered for a minute', async (name, listener, expected) => {
		const asked = jest.spyOn(globalThis, 'fetch').mockImplementation(listener);
		const begun = Date.now();
		const now = jest.spyOn(Date, 'now').mockReturnValue(begun);
		const address = `https://${name.replaceAll(' ', '-')}.example/webhook-waiting/`;
		const find = async () =>
			await findObstacle(`${address}7/media-generation?signature=key`, 3_000);
		const [obstacle] = await Promise.all([find(), find()]);
		now.mockReturnValue(begun + 60_000 - 1);
		expect(await find()).toBe(obstacle);
		const told = `callbacks to ${address} would not arrive: ${expected} Let the proxy`;
		expect(obstacle?.slice(0, told.length)).toBe(expected && told);
		expect(asked.mock.calls).toMatchObject([[`${address}0/media-generation`, { method: 'POST' }]]);
		now.mockReturnValue(begun + 60_000);
		await find();
		expect(asked).toHaveBeenCalledTimes(2);
	});
});
