import { sleep } from 'n8n-workflow';
import { Claim, RememberedEvents } from '../../nodes/MediaGeneration/trigger/deduplicate';

let trigger = 0;

/** A response of n8n's to a callback, as far as a claim looks at it. */
function makeResponse() {
	const listeners: Array<() => void> = [];
	const response = {
		closed: false,
		writableEnded: false,
		statusCode: 200,
		once: (_: string, listener: () => void) => listeners.push(listener),
		/** The sender hangs up, or the answer is sent. */
		close() {
			response.closed = true;
			for (const listener of listeners.splice(0)) listener();
			return response;
		},
		/** n8n answers. */
		answer(statusCode: number) {
			response.statusCode = statusCode;
			response.writableEnded = true;
			return response;
		},
	};
	return response;
}

type Response = Parameters<Claim['take']>[0];
const take = async (claim: Claim, response: ReturnType<typeof makeResponse>, patience = 500) =>
	await claim.take(response as unknown as Response, Date.now() + patience);

function newTrigger() {
	const name = `workflow:claim-${trigger++}`;
	return (event: string) => new Claim(name, event, new RememberedEvents(name, {}, 1000));
}

/** Makes claims of one event, as its copies do. */
function newEvent() {
	const claim = newTrigger();
	return () => claim('task:taskCompleted');
}

describe('Claim', () => {
	it('is taken by the first of two copies that come at the same instant; the other waits until n8n has stored it', async () => {
		const claim = newEvent();
		const [one, other] = [claim(), claim()];
		const response = makeResponse();
		expect(await take(one, response)).toBe('taken');
		expect(claim().emitted).toBe(false);
		const second = take(other, makeResponse());
		one.confirm();
		response.answer(200).close();
		expect(await second).toBe('emitted');
		expect(claim().emitted).toBe(true);
	});

	it('goes to one copy when n8n could not store the execution of the first', async () => {
		const claim = newEvent();
		const first = makeResponse();
		await take(claim(), first);
		const copies = [claim(), claim()];
		const taken = copies.map(async (copy) => await take(copy, makeResponse()));
		first.answer(500).close();
		expect(await Promise.race(taken)).toBe('taken');
		expect((await Promise.all(taken)).sort()).toEqual(['taken', 'underway']);
	});

	it('stays with a first one whose sender hung up: n8n still works on it', async () => {
		const claim = newEvent();
		const one = claim();
		const response = makeResponse();
		await take(one, response);
		response.close();
		expect(await take(claim(), makeResponse(), 50)).toBe('underway');
		one.confirm();
		expect(await take(claim(), makeResponse())).toBe('emitted');
	});

	it('stays with a first one that n8n has answered, though not as stored', async () => {
		const claim = newEvent();
		const response = makeResponse();
		await take(claim(), response);
		response.answer(200).close();
		expect(await take(claim(), makeResponse(), 50)).toBe('underway');
	});

	it.each([
		[59_999, 'underway'],
		[60_000, 'taken'],
	])('after %d ms in which n8n did not answer the first, is %s', async (later, outcome) => {
		const claim = newEvent();
		const began = Date.now();
		const clock = jest.spyOn(Date, 'now').mockReturnValue(began);
		await take(claim(), makeResponse(), 0);
		clock.mockReturnValue(began + later);
		expect(await take(claim(), makeResponse(), 0)).toBe(outcome);
		jest.restoreAllMocks();
	});

	it('waits for the answer to the event before, also when its execution is stored already', async () => {
		const claim = newTrigger();
		const [one, other] = [claim('a'), claim('b')];
		const response = makeResponse();
		await take(one, response);
		let isTaken = false;
		const second = take(other, makeResponse(), 5_000).then(() => (isTaken = true));
		one.confirm();
		await sleep(20);
		expect(isTaken).toBe(false);
		response.answer(200).close();
		await second;
		expect(isTaken).toBe(true);
	});

	it.each([
		['is not answered', () => {}],
		['has hung up', (response: ReturnType<typeof makeResponse>) => void response.close()],
	])('lets no event wait longer than its sender for one that %s', async (_, end) => {
		const claim = newTrigger();
		const response = makeResponse();
		await take(claim('a'), response);
		end(response);
		const begun = Date.now();
		expect(await take(claim('b'), makeResponse(), 100)).toBe('taken');
		expect(Date.now() - begun).toBeGreaterThanOrEqual(95);
	});

	it('holds up no other event when its sender has hung up before it is taken', async () => {
		const claim = newTrigger();
		const one = claim('a');
		await take(one, makeResponse().close());
		one.confirm();
		const begun = Date.now();
		expect(await take(claim('b'), makeResponse(), 5_000)).toBe('taken');
		expect(Date.now() - begun).toBeLessThan(1_000);
	});

	it('leaves events of other triggers alone', async () => {
		await take(newTrigger()('a'), makeResponse());
		const begun = Date.now();
		expect(await take(newTrigger()('a'), makeResponse(), 5_000)).toBe('taken');
		expect(Date.now() - begun).toBeLessThan(1_000);
	});
});
