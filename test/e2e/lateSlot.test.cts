import fastify from 'fastify';
import { itUnderLoad } from '../../dev/fixtures/underLoad.cts';
import { postJson } from '../../dev/fixtures/callbacks.cts';
import {
	connect,
	createAndWait,
	httpRequest,
	SPLIT_ITEMS,
	webhook,
} from '../../dev/fixtures/workflows.cts';
import { poll } from '../../dev/n8n/wait.cts';
import { usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 600 },
	n8n: { env: { N8N_CONCURRENCY_PRODUCTION_LIMIT: '1' } },
	keeps: true,
});

/** Lets its callers wait until they are released. */
const busy = fastify({ forceCloseConnections: true });
let isBusy = false;
let release = () => {};
afterAll(async () => {
	release();
	await busy.close();
});

const pause = async (seconds: number) =>
	await new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/**
 * n8n's WaitTracker finds an execution whose wait is over each minute again while it waits for the slot, and each time queues it with
 * the data of then. Once the execution sleeps in a later node, the next one in the queue takes that data in place of what n8n stored
 * since, and runs the later node anew. Our node remembers what it has sent; n8n's own nodes don't. It takes more than two minutes.
 */
itUnderLoad(
	'own ends of n8n that wait for the slot behind our delivery pay for nothing again',
	async () => {
		const first = createAndWait(
			{ waitFor: 'callback', waitLimit: 0.2, customInput: { prompt: 'first' } },
			{ name: 'First' },
		);
		const second = createAndWait(
			{ waitFor: 'callback', customInput: { prompt: 'second' } },
			{ name: 'Second' },
		);
		const { url } = await pair.activate(connect('Late', [webhook(), SPLIT_ITEMS, first, second]));
		await postJson(url, { items: [{}] });
		await pair.waitForTasks('first');
		await pause(2);
		busy.get('/', async () => {
			isBusy = true;
			await new Promise<void>((resolve) => (release = resolve));
			return {};
		});
		const busyUrl = await busy.listen({ host: '127.0.0.1', port: 0 });
		const started = await pair.activate(
			connect('Busy', [webhook(), httpRequest({ url: busyUrl })]),
		);
		await postJson(started.url, {});
		await poll(() => isBusy, { what: 'an execution that has the slot' });
		// n8n's own end comes 100 seconds after the limit.
		await pause(125);
		expect(pair.listPrompts()).toEqual(['first']);
		release();
		await pair.waitForTasks('second');
		await pause(8);
		expect(pair.listPrompts()).toEqual(['first', 'second']);
	},
);
