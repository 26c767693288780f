import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fastify from 'fastify';
import { createLog } from '../../dev/log.cts';
import { INSPECTABLE } from '../../dev/n8n/inspect.cts';
import { killRecorded } from '../../dev/n8n/childProcess.cts';
import { startN8n, type N8n } from '../../dev/n8n/n8n.cts';
import { provideN8n } from '../../dev/n8n/provide.cts';
import { pack } from '../../dev/pack.cts';

/**
 * Prepares what all test files of a run share: the packed package, a folder for temporary files, and an n8n for each of Jest's
 * workers, which starts when a file first asks for it. However the run ends, its processes and files go with it.
 */
export default async function setUp() {
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-run-'));
	// PostgreSQL runs as another user.
	fs.chmodSync(folder, 0o755);
	Object.assign(process.env, { MEDIA_GENERATION_RUN: folder, TMPDIR: folder });
	process.once('exit', cleanUp);
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

	const { tarball } = await pack(folder);
	process.env.MEDIA_GENERATION_TARBALL = tarball;
	await provideN8n(createLog());

	const n8ns = new Map<string, Promise<N8n>>();
	const env = {
		...INSPECTABLE,
		// n8n takes less time with this setting. Files that start an n8n of their own run it as it comes.
		N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true',
		N8N_RESTRICT_FILE_ACCESS_TO: folder,
		N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
	};
	const server = fastify();
	server.get<{ Params: { worker: string } }>('/:worker', async ({ params }, reply) => {
		// Neither the server nor a connection to it keeps Jest from exiting.
		void reply.header('connection', 'close');
		const n8n = n8ns.get(params.worker) ?? startN8n({ tarball, env });
		n8ns.set(params.worker, n8n);
		return (await n8n).session;
	});
	process.env.MEDIA_GENERATION_SHARED_N8N = await server.listen({ host: '127.0.0.1', port: 0 });
	server.server.unref();
}

/** Ends what the run started and is still running, and removes its files. */
export function cleanUp() {
	const { MEDIA_GENERATION_RUN: folder } = process.env;
	if (!folder) return;
	killRecorded(folder);
	fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
	delete process.env.MEDIA_GENERATION_RUN;
}
