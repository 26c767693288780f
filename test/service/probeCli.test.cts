import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import execa from 'execa';
import getPort from 'get-port';
import { openFolder } from '../../dev/pack.cts';
import { start } from './support.cts';

const cli = join(__dirname, '../../probe/cli.cts');

const run = async (baseUrl: string, args: string[] = [], cwd?: string) =>
	await execa.node(cli, args, {
		cwd,
		nodeOptions: ['--require', require.resolve('tsx/cjs')],
		all: true,
		reject: false,
		env: {
			MEDIA_GENERATION_BASE_URL: baseUrl,
			MEDIA_GENERATION_ACCESS_TOKEN: 'dev-token',
			MEDIA_GENERATION_WEBHOOK_HMAC_KEY: 'dev-webhook-hmac-key',
		},
	});

test('ends with 1 if something differs, names the dialect, creates only what it is told to, and shows no secrets', async () => {
	using folder = openFolder();
	const input = join(folder.path, 'input.json');
	writeFileSync(input, '{"prompt":"Night"}');
	const port = await getPort();
	const good = await start();
	const bad = await start({ balance: false });
	const [same, different] = await Promise.all([
		run(good.url, [
			...['--create', 'custom/any', '--input', input],
			...['--listen', `${port}`, '--public-url', `http://127.0.0.1:${port}/`],
		]),
		run(bad.url),
	]);
	expect(same.all).toContain('The service answers as the package expects.');
	expect(same.all).toMatch(/^Dialect: contract, by .*the ID of a callback$/m);
	expect(same.all).not.toMatch(/^(different|not tried)|dev-token|dev-webhook-hmac-key/m);
	expect([same.exitCode, good.tasks.size]).toEqual([0, 1]);

	expect(different.all).toMatch(/^different  Credits: /m);
	expect(different.all).toMatch(/\d of \d+ answers differ from what the package relies on/);
	expect([different.exitCode, bad.tasks.size]).toEqual([1, 0]);
});

test('says what is missing', async () => {
	const { all, exitCode } = await run('');
	expect(all).toMatch(/Set the environment variable MEDIA_GENERATION_BASE_URL/);
	expect(exitCode).toBe(1);
});

test('writes a dated report of each part and of what differed, which has no secret in it', async () => {
	using folder = openFolder();
	const service = await start({ catalogue: false });
	const { exitCode } = await run(service.url, ['--report'], folder.path);
	const report = readFileSync(join(folder.path, 'TESTING.md'), 'utf8');
	expect(exitCode).toBe(0);
	const today = new Date().toISOString().slice(0, 10);
	expect(report).toContain(`with ${new URL(service.url).host}, on ${today}`);
	expect(report).toContain('Dialect: contract, by ');
	expect(report).toContain('| Account: Get Credits | works |');
	expect(report).toContain('| Model: Get Many | the service lacks an endpoint |');
	expect(report).toContain('| Generate | not tried, or in part |');
	expect(report).toMatch(/## What is not as expected\n\n- \*\*Models\*\*: /);
	expect(report).not.toMatch(/dev-token|dev-webhook-hmac-key|a-wrong-token/);
});
