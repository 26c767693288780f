import execa from 'execa';
import fs from 'node:fs';
import path from 'node:path';
import { openFolder, root } from '../../../dev/pack.cts';

const PROGRAMS = [
	'git',
	'curl',
	'tar',
	'python3',
	'make',
	'g++',
	'chromium',
	'redis-server',
	'nginx',
];

/** A stub notes its call, and fails where `FAIL` is in it. Asked for the totals of a report, it has 3 that passed. */
const STUB = `#!/bin/sh
call="$(basename "$0") $*"
echo "$call" >> "$CALLS"
if [ -n "$FAIL" ]; then case "$call" in *"$FAIL"*) exit 1 ;; esac; fi
case "$call" in *totals*) echo 3 0 ;; esac
`;

/** Runs a copy of `.ci/run` whose commands do nothing, and returns what they were called with. */
async function run(fail: string) {
	using folder = openFolder();
	const [script, bin] = [path.join(folder.path, '.ci', 'run'), path.join(folder.path, 'bin')];
	fs.mkdirSync(path.dirname(script));
	fs.mkdirSync(bin);
	fs.copyFileSync(path.join(root, '.ci', 'run'), script);
	for (const name of [...PROGRAMS, 'node', 'npm', 'jest', 'apt-get', 'sudo', 'sleep'])
		fs.writeFileSync(path.join(bin, name), STUB, { mode: 0o755 });
	const calls = path.join(folder.path, 'calls');
	const env = { PATH: `${bin}:${process.env.PATH}`, CALLS: calls, FAIL: fail };
	const { exitCode, stdout } = await execa('bash', [script], { env, reject: false });
	return { exitCode, last: stdout.split('\n').at(-1), calls: fs.readFileSync(calls, 'utf8') };
}

const SUITES = /^(npm test|jest)/m;

it('passes where all commands do, with the totals of all suites in its last line', async () => {
	const { exitCode, last, calls } = await run('');
	expect(calls.match(/^(npm test|jest --selectProjects [a-z0-9 ]+)/gm)).toEqual([
		'npm test',
		'jest --selectProjects e2e editor queue ',
	]);
	expect({ exitCode, last }).toEqual({ exitCode: 0, last: '7 passed, 0 failed' });
});

it('ends before any suite when packages can not be installed', async () => {
	const { exitCode, last, calls } = await run('dev/deps.js');
	expect(calls.match(/dev\/deps\.js/g)).toHaveLength(3);
	expect(calls).not.toMatch(SUITES);
	expect({ exitCode, last }).toEqual({ exitCode: 1, last: '0 passed, 1 failed' });
});

it('ends before the suites that need n8n when n8n can not be installed', async () => {
	const { exitCode, last, calls } = await run('provideN8n');
	expect(calls).toContain('npm test');
	expect(calls).not.toContain('jest');
	expect({ exitCode, last }).toEqual({ exitCode: 1, last: '3 passed, 1 failed' });
});

it.each([
	['npm test', '7 passed, 1 failed'],
	['start.cts --check', '6 passed, 1 failed'],
	['--selectProjects e2e', '7 passed, 1 failed'],
	['totals', '1 passed, 2 failed'],
])('fails where "%s" does, whatever its report says', async (fail, totals) => {
	const { exitCode, last } = await run(fail);
	expect({ exitCode, last }).toEqual({ exitCode: 1, last: totals });
});
