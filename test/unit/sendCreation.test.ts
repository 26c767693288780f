import { ServiceError, UnknownOutcomeError } from '../../nodes/MediaGeneration/api/errors';
import { explainRefusal } from '../../nodes/MediaGeneration/api/errorHelp';
import { Breaker } from '../../nodes/MediaGeneration/operations/create/sendCreation';

const refuse = (code: number, text = '') =>
	new ServiceError({ ...explainRefusal(200, code, text), code });
const unknown = () => new UnknownOutcomeError({ message: 'The service broke off' });

/** Creates tasks with one account; an outcome is an error or a task's ID. @returns the number of those that were sent */
async function createAll(breaker: Breaker, account: string, outcomes: Array<Error | string>) {
	let sent = 0;
	for (const outcome of outcomes) {
		const send = async () => {
			sent++;
			if (outcome instanceof Error) throw outcome;
			return outcome;
		};
		await breaker.run(account, send).catch(() => undefined);
	}
	return sent;
}

describe('Breaker', () => {
	it.each<[string, Array<Error | string>, number]>([
		['a task', ['task', 'task'], 2],
		['a refusal of the token', [refuse(401), 'task'], 1],
		['a refusal for want of credits', [refuse(402), 'task'], 1],
		['one with the code of too many requests', [refuse(429, 'Insufficient credits'), 'task'], 1],
		['the usage limit of the token', [refuse(433), 'task'], 1],
		['maintenance', [refuse(455), 'task'], 1],
		['a refusal of a field', [refuse(422), 'task'], 2],
		['a refusal for the rate', [refuse(429), 'task'], 2],
		['three unknown outcomes', [unknown(), unknown(), unknown(), 'task'], 3],
		['a task between them', [unknown(), unknown(), 'task', unknown(), 'task'], 5],
		['a refusal between them', [unknown(), unknown(), refuse(422), unknown(), 'task'], 5],
		['an unknown outcome with such a code', [new UnknownOutcomeError(refuse(402), 402), 'task'], 2],
	])('after %s, sends on or does not', async (_, outcomes, sent) => {
		expect(await createAll(new Breaker(), 'account', outcomes)).toBe(sent);
	});

	it('ends creating for one account only, and says why and what to do', async () => {
		const breaker = new Breaker();
		expect(await createAll(breaker, 'poor', [refuse(402, 'empty'), 'task'])).toBe(1);
		expect(await createAll(breaker, 'rich', ['task', 'task'])).toBe(2);
		expect(() => breaker.check('rich')).not.toThrow();
		expect(() => breaker.check('poor')).toThrow(
			expect.objectContaining({
				message: expect.stringMatching(/^This item was not sent: .*too few credits/) as string,
				description: expect.stringContaining('Top up') as string,
			}) as Error,
		);
	});
});
