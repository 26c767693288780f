import { EventEmitter } from 'node:events';
import v8 from 'node:v8';
import vm from 'node:vm';
import { Claim, RememberedEvents } from '../../nodes/MediaGeneration/trigger/deduplicate';

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc') as () => void;

class FakeResponse extends EventEmitter {
	closed = false;
	writableEnded = false;
	statusCode = 200;
}

/** Takes an event for a response, as a callback does, and keeps no reference to the response. */
async function takeOne(event: string, end: (response: FakeResponse, claim: Claim) => void) {
	const response = new FakeResponse();
	const trigger = `workflow:${event}`;
	const claim = new Claim(trigger, event, new RememberedEvents(trigger, {}, 1000));
	await claim.take(response, Date.now() + 100);
	end(response, claim);
	return new WeakRef(response);
}

it.each<[string, (response: FakeResponse, claim: Claim) => void]>([
	[
		'was answered',
		(response, claim) => {
			claim.confirm();
			response.writableEnded = true;
			response.emit('close');
		},
	],
	[
		'was refused by n8n',
		(response) => {
			Object.assign(response, { statusCode: 500, writableEnded: true });
			response.emit('close');
		},
	],
	[
		'was closed by its sender before n8n answered it',
		(response, claim) => {
			response.emit('close');
			claim.confirm();
			response.writableEnded = true;
		},
	],
	['was closed by its sender, and is never answered', (response) => void response.emit('close')],
])('no response is kept in memory that %s', async (name, end) => {
	const responses = await Promise.all(
		Array.from({ length: 200 }, async (_, index) => await takeOne(`${name} ${index}`, end)),
	);
	await new Promise((resolve) => setImmediate(resolve));
	collectGarbage();
	expect(responses.filter((response) => response.deref()).length).toBeLessThan(5);
});
