import fs from 'node:fs';
import path from 'node:path';
import execa from 'execa';
import { openFolder, root } from '../../../dev/pack.cts';

/** Notes its call, and fails where it is one of `FAIL`. */
const NPM = `#!/bin/sh
echo "$*" >> "$CALLS"
for call in $FAIL; do [ "$1" != "$call" ] || exit 1; done
`;

/** Runs the script with an npm that only notes its calls. */
async function install(fail: string) {
	using folder = openFolder();
	const calls = path.join(folder.path, 'calls');
	fs.writeFileSync(path.join(folder.path, 'npm'), NPM, { mode: 0o755 });
	const env = { PATH: `${folder.path}:/usr/bin:/bin`, CALLS: calls, FAIL: fail };
	const script = path.join(root, 'dev', 'deps.js');
	const options = { cwd: folder.path, env, extendEnv: false, reject: false };
	const { exitCode } = await execa(process.execPath, [script], options);
	return { exitCode, calls: fs.readFileSync(calls, 'utf8').match(/^\w+/gm) };
}

it.each([
	{ what: 'what is installed stays', fail: '', exitCode: 0, calls: ['ls'] },
	{ what: 'Bun installs the rest', fail: 'ls', exitCode: 0, calls: ['ls', 'exec'] },
	{
		what: 'npm does where Bun fails',
		fail: 'ls exec',
		exitCode: 0,
		calls: ['ls', 'exec', 'install'],
	},
	{
		what: 'without either it fails',
		fail: 'ls exec install',
		exitCode: 1,
		calls: ['ls', 'exec', 'install'],
	},
])('$what', async ({ fail, exitCode, calls }) => {
	expect(await install(fail)).toEqual({ exitCode, calls });
});
