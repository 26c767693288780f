import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import execa from 'execa';
import getPort from 'get-port';
import { openFolder } from '../../dev/pack.cts';
import type { Service } from '../../dev/service/index.cts';
import { start } from './support.cts';

const CREDIT = '/api/v1/chat/credit';
const KEY = 'dev-webhook-hmac-key';
const SECRET = /dev-token|dev-webhook-hmac-key|a-wrong-token/;

/** Runs the probe with an emulator. */
const probe = async ({ url, uploadUrl }: Service, ...args: string[]) =>
	await execa.node(join(__dirname, '../../probe/cli.cts'), args, {
		nodeOptions: ['--require', require.resolve('tsx/cjs')],
		all: true,
		reject: false,
		env: {
			MEDIA_GENERATION_BASE_URL: url,
			MEDIA_GENERATION_UPLOAD_BASE_URL: uploadUrl,
			MEDIA_GENERATION_ACCESS_TOKEN: 'dev-token',
			MEDIA_GENERATION_WEBHOOK_HMAC_KEY: KEY,
		},
	});

it('finds with one task that the emulator answers as the package expects, in both dialects', async () => {
	using folder = openFolder();
	const input = join(folder.path, 'input.json');
	writeFileSync(input, '{"prompt":"Night"}');
	const run = async (dialect: 'contract' | 'recorded') => {
		const service = await start({ dialect });
		const port = String(await getPort());
		const create = ['--create', 'custom/any', '--input', input];
		const callback = ['--listen', port, '--public-url', `http://127.0.0.1:${port}/`];
		const { all, exitCode } = await probe(service, ...create, ...callback);
		expect(all).toContain('| Callback | same | genuine |');
		expect(all).not.toContain('| different |');
		expect(all).not.toMatch(SECRET);
		expect([exitCode, service.tasks.size]).toEqual([0, 1]);
	};
	await Promise.all([run('contract'), run('recorded')]);
});

it('says what differs, creates nothing by itself, ends with 1, and hides the secrets in what the service says', async () => {
	const rejection = { code: 999, msg: `dev-token ${KEY}`, data: null };
	const service = await start({
		catalogue: false,
		rewrite: (body, path) => {
			const { code } = body as { code: number };
			return path === CREDIT && code !== 200 ? rejection : body;
		},
	});
	const { all, exitCode } = await probe(service);
	expect(all).toMatch(/^\| Credits, wrong token \| different \|.*999.*\(hidden\)/m);
	expect(all).toMatch(/^\| Models \| absent \|.*\| a list in data/m);
	expect(all).not.toMatch(SECRET);
	expect([exitCode, service.tasks.size]).toEqual([1, 0]);
});
