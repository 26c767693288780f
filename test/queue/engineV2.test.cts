import { expect } from '@jest/globals';
import fs from 'node:fs';
import { startPair } from '../../dev/fixtures/pair.cts';
import { itUnderLoad } from '../../dev/fixtures/underLoad.cts';
import { chain, createAndWait, NODE } from '../../dev/fixtures/workflows.cts';
import { findPort } from '../../dev/n8n/findPort.cts';
import { startPostgres } from '../../dev/n8n/servers.cts';
import { openFolder } from '../../dev/pack.cts';

// n8n's engine-v2, off by default. It needs a PostgreSQL of its own, and works in n8n's regular mode alone.
itUnderLoad(
	'on engine-v2, where nothing can sleep, the node polls whatever was chosen',
	async () => {
		using folder = openFolder();
		// PostgreSQL runs as another user.
		fs.chmodSync(folder.path, 0o755);
		const postgres = await startPostgres(folder.path);
		try {
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
			await using pair = await startPair({ service: { taskSeconds: 0.5 }, n8n: { env } });
			const run = async (waitFor: string) => {
				const customInput = JSON.stringify({ prompt: waitFor });
				const workflow = chain(waitFor, [createAndWait({ waitFor, customInput })]);
				workflow.settings = { ...workflow.settings, engineType: 'v2' };
				return (await pair.run(workflow)).getItems(NODE);
			};
			const outputs = await Promise.all(['automatic', 'callback', 'polling'].map(run));
			const completed = { status: 'completed' };
			expect(outputs.flat()).toMatchObject([completed, completed, completed]);
			expect(pair.listTasks().filter(({ callBackUrl }) => callBackUrl)).toEqual([]);
		} finally {
			await postgres.stop();
		}
	},
);
