import v8 from 'node:v8';
import vm from 'node:vm';
import { Claim, RememberedEvents } from '../../nodes/MediaGeneration/trigger/deduplicate';
import { makeResponse } from './webhook.ts';

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc') as () => void;

type End = (response: ReturnType<typeof makeResponse>, claim: Claim) => void;

/** Takes an event for a response, as a callback does, and keeps no reference to the response. */
async function takeOne(event: string, end: End) {
	const response = makeResponse();
	const trigger = `workflow:${event}`;
	const claim = new Claim(trigger, event, new RememberedEvents(trigger, {}, 1000));
	await claim.take(response, Date.now() + 100);
	end(response, claim);
	return new WeakRef(response);
}

const ends: Record<string, End> = {
	'was answered': (response, claim) => {
		claim.confirm();
		response.json({}).close();
	},
	'was refused by n8n': (response) => response.status(500).json({}).close(),
	'was closed by its sender before n8n answered it': (response, claim) => {
		response.close();
		claim.confirm();
		response.json({});
	},
	'was closed by its sender, and is never answered': (response) => response.close(),
};

it.each(Object.entries(ends))('no response is kept in memory that %s', async (name, end) => {
	const responses = await Promise.all(
		Array.from({ length: 200 }, async (_, index) => await takeOne(`${name} ${index}`, end)),
	);
	await new Promise((resolve) => setImmediate(resolve));
	collectGarbage();
	expect(responses.filter((response) => response.deref()).length).toBeLessThan(5);
});
