import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import execa from 'execa';
import getPort from 'get-port';
import { openFolder } from '../../dev/pack.cts';

const cli = join(__dirname, '../../dev/service/cli.cts');

const run = (...args: string[]) =>
	execa.node(cli, args, { nodeOptions: ['--require', 'tsx/cjs'], all: true, reject: false });

test('prints what to put in the credential, media and faults, logs, and stops on SIGTERM', async () => {
	const port = await getPort();
	const without = ['--without', 'catalogue', '--without', 'retries'];
	const child = run(
		'--port',
		`${port}`,
		'--token',
		'my-token',
		'--webhook-key',
		'my-key',
		...without,
	);
	let printed = '';
	child.all?.on('data', (chunk) => {
		printed += chunk;
		if (`${chunk}`.includes('#created'))
			void fetch(`http://127.0.0.1:${port}/api/v1/jobs/createTask`, {
				method: 'POST',
				headers: { Authorization: 'Bearer my-token', 'Content-Type': 'application/json' },
				body: '{"model":"custom/x","input":{}}',
			});
		if (printed.includes('create custom/x: ')) child.kill('SIGTERM');
	});
	expect((await child).exitCode).toBe(0);
	expect(printed).toContain(`Base URL          http://127.0.0.1:${port}\n`);
	expect(printed).toContain('Access Token      my-token\n');
	expect(printed).toContain('Webhook HMAC Key  my-key\n');
	expect(printed).toMatch(/http:\/\/127\.0\.0\.1:\d+\/sample\.mp4\n/);
	expect(printed).toMatch(/#fail +the task ends in state fail/);
});

test('answers as was recorded', async () => {
	using folder = openFolder();
	const answer = { status: 200, body: { code: 200, data: 7.25 } };
	writeFileSync(join(folder.path, 'credits.json'), JSON.stringify(answer));
	const port = await getPort();
	const child = run('--port', `${port}`, '--recorded', folder.path);
	await once(child.all as NodeJS.ReadableStream, 'data');
	const headers = { Authorization: 'Bearer dev-token' };
	const response = await fetch(`http://127.0.0.1:${port}/api/v1/chat/credit`, { headers });
	child.kill('SIGTERM');
	expect(await response.json()).toEqual(answer.body);
	expect((await child).exitCode).toBe(0);
});

test.each([
	[['--help'], 0, /--task-seconds <number>/],
	[['--prot', '1'], 1, /Unknown option '--prot'/],
	[['--recorded', 'no/such'], 1, /There is no folder "no\/such"/],
	[['--without', 'detail'], 1, /"detail" is not one of: callbacks, retries, creation, details/],
])('%j', async (args, exitCode, text) => {
	const child = await run(...args);
	expect(child.exitCode).toBe(exitCode);
	expect(child.all).toMatch(text);
});
