import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Readable } from 'node:stream';
import { buildWorld, HOUR } from './live.cts';
import type { Plan, World } from './world.cts';

/** What an execution that has ended leaves in the process. */

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** How many executions are measured together. */
const COUNT = 100;

/** The most that an execution may leave, in bytes. */
const MOST_BYTES = 15_000;

/** A leak grows in each batch. Compiled code, and garbage that a busy machine hasn't collected yet, don't. */
const BATCHES = 6;

const isLittle = (bytes: number) => bytes < MOST_BYTES;

/** Makes results texts of 200 kB. */
function writeTexts({ service }: World): void {
	const answer = service.answer.bind(service);
	service.answer = async (...request) => {
		const answered = await answer(...request);
		const { data } = JSON.parse(answered.body as string) as { data: { state?: string } };
		if (data.state !== 'success') return answered;
		const body = JSON.stringify({ code: 200, data: { ...data, resultJson: 'x'.repeat(200_000) } });
		return { ...answered, body };
	};
}

/** Makes results files of 500 kB, which n8n keeps in memory with the items. */
function serveFiles({ service }: World): void {
	service.download = async () => ({
		statusCode: 200,
		headers: { 'content-type': 'image/png' },
		body: Readable.from([Buffer.alloc(500_000, 'x')]),
	});
}

/** Runs executions to their end, one after the other. Then n8n keeps nothing of them. */
async function runMany(world: World): Promise<void> {
	const { plan } = world;
	for (let count = 0; count < COUNT; count++) {
		const execution = world.startExecution(plan);
		await world.runToEnd();
		sizes.push(JSON.stringify(execution.ended).length);
		execution.stored = '';
		for (const list of [execution.ended, execution.outputs]) list.length = 0;
	}
	await world.clock.pass(HOUR);
}

/** The sizes of the outputs. */
let sizes: number[];
beforeEach(() => (sizes = []));

async function measureHeap(): Promise<number> {
	for (let round = 0; round < 3; round++) {
		await new Promise((resolve) => setImmediate(resolve));
		collectGarbage();
	}
	const { heapUsed, external } = process.memoryUsage();
	return heapUsed + external;
}

it.each<[string, Partial<Plan>, (world: World) => void]>([
	['200 kB of text, asleep', { howToWait: 'callback' }, writeTexts],
	['a file of 500 kB, awake', { howToWait: 'polling', downloads: true }, serveFiles],
])(
	'an execution that ended with %s leaves next to nothing',
	async (_, plan, prepare) => {
		const world = buildWorld(['good'], plan);
		prepare(world);
		await runMany(world);
		const growths: number[] = [];
		for (let before = await measureHeap(); growths.length < BATCHES && !growths.some(isLittle); ) {
			await runMany(world);
			const heap = await measureHeap();
			growths.push((heap - before) / COUNT);
			before = heap;
		}
		expect(Math.min(...sizes)).toBeGreaterThan(200_000);
		expect(Math.min(...growths)).toBeLessThan(MOST_BYTES);
		world.n8n.release();
	},
	120_000,
);
