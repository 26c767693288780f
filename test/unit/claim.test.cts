import v8 from 'node:v8';
import vm from 'node:vm';
import { sleep } from 'n8n-workflow';
import { Claim, RememberedEvents } from '../../nodes/MediaGeneration/trigger/deduplicate';
import { makeResponse } from './webhook.ts';

let triggers = 0;

/** A trigger, whose callbacks claim events. A callback waits for so many milliseconds. */
function newTrigger() {
	const name = `workflow:claim-${triggers++}`;
	return (event: string, patience = 500, response = makeResponse()) => {
		const claim = new Claim(name, event, new RememberedEvents(name, {}, 1000));
		const begun = Date.now();
		return { claim, response, begun, taken: claim.take(response, begun + patience) };
	};
}

type Callback = ReturnType<ReturnType<typeof newTrigger>>;

/** Waits until a callback has its event, and returns after how many milliseconds. */
async function waitFor({ begun, taken }: Callback): Promise<number> {
	expect(await taken).toBe('taken');
	return Date.now() - begun;
}

describe('copies of a callback', () => {
	it('start one execution when n8n could not store the first', async () => {
		const claim = newTrigger();
		const first = claim('a');
		expect(await first.taken).toBe('taken');
		const copies = [claim('a').taken, claim('a').taken];
		first.response.status(500).json({}).close();
		expect(await Promise.race(copies)).toBe('taken');
		expect((await Promise.all(copies)).sort()).toEqual(['taken', 'underway']);
	});

	it.each<[string, (response: Callback['response']) => void]>([
		['whose sender hung up', (response) => response.close()],
		['that n8n has answered, though not as stored', (response) => response.json({}).close()],
	])('leave the event to a first one %s: n8n still works on it', async (_, end) => {
		const claim = newTrigger();
		const first = claim('a');
		end(first.response);
		expect(await claim('a', 50).taken).toBe('underway');
		first.claim.confirm();
		expect(await claim('a').taken).toBe('emitted');
	});

	it.each([
		[59_999, 'underway'],
		[60_000, 'taken'],
	])('find the event, %d ms after a first one that n8n does not answer, %s', async (ms, taken) => {
		const claim = newTrigger();
		const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
		claim('a', 0);
		clock.mockReturnValue(Date.now() + ms);
		expect(await claim('a', 0).taken).toBe(taken);
		jest.restoreAllMocks();
	});
});

describe('an event', () => {
	it('waits for the answer to the one before, also when its execution is stored already', async () => {
		const claim = newTrigger();
		const { claim: before, response } = claim('a');
		const waited = waitFor(claim('b', 5_000));
		before.confirm();
		await sleep(20);
		response.json({}).close();
		const milliseconds = await waited;
		expect(milliseconds).toBeGreaterThanOrEqual(15);
		expect(milliseconds).toBeLessThan(1_000);
	});

	it.each<[string, (response: Callback['response']) => void]>([
		['is not answered', () => {}],
		['has hung up', (response) => response.close()],
	])('waits no longer than its sender for one that %s', async (_, end) => {
		const claim = newTrigger();
		end(claim('a').response);
		expect(await waitFor(claim('b', 100))).toBeGreaterThanOrEqual(95);
	});

	it('does not wait for one whose sender had hung up before', async () => {
		const claim = newTrigger();
		claim('a', 0, makeResponse().close()).claim.confirm();
		expect(await waitFor(claim('b', 5_000))).toBeLessThan(1_000);
	});

	it('does not wait for those of other triggers', async () => {
		newTrigger()('a');
		expect(await waitFor(newTrigger()('a', 5_000))).toBeLessThan(1_000);
	});
});

describe('a response', () => {
	v8.setFlagsFromString('--expose-gc');
	const collectGarbage = vm.runInNewContext('gc') as () => void;

	type End = (callback: Callback) => void;

	/** Takes an event for a response, and keeps no reference to the response. */
	async function takeOne(end: End) {
		const callback = newTrigger()('a', 100);
		await callback.taken;
		end(callback);
		return new WeakRef(callback.response);
	}

	const ends: Record<string, End> = {
		'was answered': ({ claim, response }) => {
			claim.confirm();
			response.json({}).close();
		},
		'was refused by n8n': ({ response }) => response.status(500).json({}).close(),
		'was closed by its sender before n8n answered it': ({ claim, response }) => {
			response.close();
			claim.confirm();
			response.json({});
		},
		'was closed by its sender, and is never answered': ({ response }) => response.close(),
	};

	it.each(Object.entries(ends))('is not kept in memory that %s', async (_, end) => {
		const responses = await Promise.all(
			Array.from({ length: 200 }, async () => await takeOne(end)),
		);
		await new Promise((resolve) => setImmediate(resolve));
		collectGarbage();
		expect(responses.filter((response) => response.deref()).length).toBeLessThan(5);
	});
});
