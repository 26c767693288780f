import { join } from 'node:path';
import execa from 'execa';
import getPort from 'get-port';

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

test.each([
	[['--help'], 0, /--task-seconds <number>/],
	[['--prot', '1'], 1, /Unknown option '--prot'/],
	[['--without', 'detail'], 1, /"detail" is not one of: callbacks, retries, creation, details/],
])('%j', async (args, exitCode, text) => {
	const child = await run(...args);
	expect(child.exitCode).toBe(exitCode);
	expect(child.all).toMatch(text);
});
