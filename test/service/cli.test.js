const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { createServer } = require('node:net');
const { join } = require('node:path');

const cli = join(__dirname, '../../dev/service/cli.js');

/**
 * @param {string[]} args
 * @param {(printed: string, child: import('node:child_process').ChildProcess) => void} [onOutput]
 */
async function run(args, onOutput) {
	const child = spawn(process.execPath, [cli, ...args]);
	let printed = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream.on('data', (chunk) => {
			printed += chunk;
			onOutput?.(printed, child);
		});
	}
	const [code] = await once(child, 'exit');
	return { code, printed };
}

async function freePort() {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
	server.close();
	return port;
}

describe('the command line', () => {
	test('prints what to put in the credential, media and faults, logs, and stops on SIGTERM', async () => {
		const port = await freePort();
		let asked = false;
		const args = ['--port', `${port}`, '--token', 'my-token', '--webhook-key', 'my-key'];
		const { code, printed } = await run(args, (text, child) => {
			if (text.includes('#created') && !asked) {
				asked = true;
				void fetch(`http://127.0.0.1:${port}/api/v1/jobs/createTask`, {
					method: 'POST',
					headers: { Authorization: 'Bearer my-token', 'Content-Type': 'application/json' },
					body: '{"model":"custom/x","input":{}}',
				});
			}
			if (text.includes('create custom/x: ')) child.kill('SIGTERM');
		});
		expect(code).toBe(0);
		expect(printed).toContain(`Base URL          http://127.0.0.1:${port}\n`);
		expect(printed).toContain('Access Token      my-token\n');
		expect(printed).toContain('Webhook HMAC Key  my-key\n');
		expect(printed).toContain(`http://127.0.0.1:${port + 1}/sample.mp4\n`);
		expect(printed).toMatch(/#fail +the task ends in state fail/);
	});

	test.each([
		[['--help'], 0, /--task-seconds <number>/],
		[['--prot', '1'], 1, /Unknown option '--prot'/],
		[['--task-seconds', 'soon'], 1, /taskSeconds/],
	])('%j', async (args, code, text) => {
		expect(await run(args)).toEqual({ code, printed: expect.stringMatching(text) });
	});
});
