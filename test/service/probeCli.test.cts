import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import execa from 'execa';
import getPort from 'get-port';
import { openFolder } from '../../dev/pack.cts';
import { start } from './support.cts';

const cli = join(__dirname, '../../probe/cli.cts');

const run = async (env: Record<string, string>, args: string[]) =>
	await execa.node(cli, args, {
		nodeOptions: ['--require', 'tsx/cjs'],
		all: true,
		reject: false,
		env: {
			MEDIA_GENERATION_BASE_URL: '',
			MEDIA_GENERATION_ACCESS_TOKEN: 'dev-token',
			MEDIA_GENERATION_WEBHOOK_HMAC_KEY: 'dev-webhook-key',
			...env,
		},
	});

test('ends with 1 if something differs; writes what came, without secrets; creates only what it is told to', async () => {
	using folder = openFolder();
	const input = join(folder.path, 'input.json');
	writeFileSync(input, '{"prompt":"Night"}');
	const answers = join(folder.path, 'answers');
	const port = await getPort();
	const good = await start();
	const bad = await start({ balance: false });
	const [same, different] = await Promise.all([
		run({ MEDIA_GENERATION_BASE_URL: good.url }, [
			...['--create', 'custom/any', '--input', input, '--folder', answers],
			...['--listen', `${port}`, '--public-url', `http://127.0.0.1:${port}/`],
		]),
		run({ MEDIA_GENERATION_BASE_URL: bad.url }, ['--folder', join(folder.path, 'bad')]),
	]);

	const [taskId] = good.tasks.keys();
	expect(same.all).toContain(`created task ${taskId}`);
	expect(same.all).toContain('The service answers as the package expects.');
	expect(same.all).not.toMatch(/^(different|not tried)/m);
	expect(same.exitCode).toBe(0);

	const files = readdirSync(answers);
	expect(files).toEqual(expect.arrayContaining(['callback.json', 'create.json', 'details.json']));
	const texts = files.map((file) => readFileSync(join(answers, file), 'utf8'));
	expect(`${same.all}\n${texts.join('\n')}`).not.toMatch(/dev-token|dev-webhook-key/);

	expect(different.all).toMatch(/^different  Credits: /m);
	expect(different.all).toMatch(/\d of \d+ answers differ from what the package relies on/);
	expect(different.exitCode).toBe(1);
	expect(bad.tasks.size).toBe(0);
});

const URL_ONLY = { MEDIA_GENERATION_BASE_URL: 'http://127.0.0.1:9' };

test.each<[string[], Record<string, string>, number, RegExp]>([
	[['--help'], {}, 0, /--public-url <url>/],
	[[], {}, 1, /Set the environment variable MEDIA_GENERATION_BASE_URL/],
	[['--create', 'a/b'], URL_ONLY, 1, /both --create and --input/],
])('%j with %j', async (args, env, exitCode, text) => {
	const child = await run(env, args);
	expect(child.all).toMatch(text);
	expect(child.exitCode).toBe(exitCode);
});
