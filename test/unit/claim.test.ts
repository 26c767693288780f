import { Claim } from '../../nodes/MediaGeneration/trigger/claim';
import { RememberedEvents } from '../../nodes/MediaGeneration/trigger/remembered';

let trigger = 0;

/** A response as Express has it, as far as a claim looks at it. */
function response() {
	const listeners: Array<() => void> = [];
	const made = {
		writableEnded: false,
		statusCode: 200,
		once: (_: string, listener: () => void) => listeners.push(listener),
		/** The socket closes, after the answer or before it. */
		close: () => listeners.forEach((listener) => listener()),
		answer: (statusCode: number) => Object.assign(made, { statusCode, writableEnded: true }),
	};
	return made;
}

type Response = Parameters<Claim['take']>[0];
const take = async (claim: Claim, by: ReturnType<typeof response>) =>
	await claim.take(by as unknown as Response, Date.now() + 500);

function newEvent() {
	const name = `workflow:claim-${trigger++}`;
	return () => new Claim(name, 'task:taskCompleted', new RememberedEvents(name, {}, 1000));
}

describe('Claim', () => {
	it('is taken by the first of two copies that come at the same instant; the other waits for its answer', async () => {
		const claim = newEvent();
		const first = response();
		expect(await take(claim(), first)).toBe('taken');
		expect(claim().emitted).toBe(false);
		const second = take(claim(), response());
		first.answer(200).close();
		expect(await second).toBe('emitted');
		expect(claim().emitted).toBe(true);
	});

	it('goes to the copy when n8n could not store the execution of the first', async () => {
		const claim = newEvent();
		const first = response();
		await take(claim(), first);
		const [second, third] = [response(), response()];
		const taken = [take(claim(), second), take(claim(), third)];
		first.answer(500).close();
		expect(await Promise.race(taken)).toBe('taken');
		second.answer(200);
		third.answer(200);
		expect((await Promise.all(taken)).sort()).toEqual(['emitted', 'taken']);
	});

	it('is left open when the first one is not answered in time, also when its sender hung up', async () => {
		const claim = newEvent();
		const first = response();
		await take(claim(), first);
		first.close();
		expect(await take(claim(), response())).toBe('underway');
		first.answer(200);
		expect(await take(claim(), response())).toBe('emitted');
	});

	it('is taken by a copy that comes after a minute in which n8n did not answer the first', async () => {
		const claim = newEvent();
		const began = Date.now();
		await take(claim(), response());
		jest.spyOn(Date, 'now').mockReturnValue(began + 61_000);
		const second = take(claim(), response());
		jest.restoreAllMocks();
		expect(await second).toBe('taken');
	});

	it('lets events of a trigger be answered one after the other, but none wait for ever', async () => {
		const name = `workflow:claim-${trigger++}`;
		const event = (id: string) => new Claim(name, id, new RememberedEvents(name, {}, 1000));
		const [first, second, third] = [response(), response(), response()];
		const order: string[] = [];
		await take(event('a'), first);
		const waiting = take(event('b'), second).then(() => order.push('b'));
		order.push('a answered');
		first.answer(200).close();
		await waiting;
		expect(order).toEqual(['a answered', 'b']);
		expect(await take(event('c'), third)).toBe('taken');
	});
});
