import { expect } from '@jest/globals';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startPair, type Pair } from '../../dev/fixtures/pair.cts';
import { itUnderLoad } from '../../dev/fixtures/underLoad.cts';
import { chain, createAndWait, NODE } from '../../dev/fixtures/workflows.cts';
import { findPort } from '../../dev/n8n/findPort.cts';
import { startPostgres } from '../../dev/n8n/servers.cts';

/** n8n's engine-v2, off by default. It needs a PostgreSQL of its own, and works in n8n's regular mode alone. */
describe('engine-v2', () => {
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-v2-'));
	let postgres: Awaited<ReturnType<typeof startPostgres>>;
	let pair: Pair;

	beforeAll(async () => {
		// PostgreSQL runs as another user.
		fs.chmodSync(folder, 0o755);
		postgres = await startPostgres(folder);
		const [engine, control] = [await findPort(), await findPort()];
		const env = {
			N8N_ENABLED_MODULES: 'engine-v2',
			N8N_ENGINE_DATABASE_URL: `postgres://${postgres.user}@127.0.0.1:${postgres.port}/${postgres.database}`,
			N8N_ENGINE_HOST: '127.0.0.1',
			N8N_ENGINE_PORT: String(engine),
			N8N_ENGINE_BASE_URL: `http://127.0.0.1:${engine}`,
			N8N_ENGINE_CONTROL_PLANE_PORT: String(control),
			N8N_ENGINE_CONTROL_PLANE_BASE_URL: `http://127.0.0.1:${control}`,
		};
		pair = await startPair({ service: { taskSeconds: 0.5 }, n8n: { env } });
	});
	afterAll(async () => {
		await pair.stop();
		await postgres.stop();
		fs.rmSync(folder, { recursive: true, force: true });
	});

	itUnderLoad('polls whatever was chosen, as nothing can sleep there', async () => {
		const run = async (waitFor: string) => {
			const customInput = JSON.stringify({ prompt: waitFor });
			const workflow = chain(waitFor, [createAndWait({ waitFor, customInput })]);
			workflow.settings = { ...workflow.settings, engineType: 'v2' };
			return (await pair.run(workflow)).getItems(NODE);
		};
		const chosen = ['automatic', 'callback', 'polling'];
		const outputs = await Promise.all(chosen.map(run));
		expect(outputs.flat()).toMatchObject(chosen.map(() => ({ status: 'completed' })));
		expect(pair.listTasks().map(({ callBackUrl }) => callBackUrl)).toEqual([
			undefined,
			undefined,
			undefined,
		]);
	});
});
