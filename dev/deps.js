const { spawnSync } = require('node:child_process');

// Plain JavaScript: nothing is installed yet. On Windows npm is a script, which needs a shell.

/** @type {(stdio: import('node:child_process').StdioOptions, ...args: string[]) => boolean} */
const runNpm = (stdio, ...args) =>
	spawnSync('npm', args, { stdio, shell: process.platform === 'win32' }).status === 0;

/** Bun takes a tenth of npm's time for npm's lock file. Of all packages' scripts, only Bun's own runs, which installs Bun. */
const BY_BUN = [
	...['exec', '--yes', '--ignore-scripts=false', '--package=bun@1.4.5', '--'],
	...['bun', 'install', '--no-save', '--ignore-scripts', '--silent'],
];
/** Installs where Bun can't, as on a platform without Bun. Failed downloads are tried again. */
const BY_NPM = [
	...['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=5'],
];

/** Installs what package.json in the working directory names, unless all is there, as after `npm ci`. */
console.log('Checking that the packages of package.json are installed');
const installed =
	runNpm('ignore', 'ls') || runNpm('inherit', ...BY_BUN) || runNpm('inherit', ...BY_NPM);
process.exitCode = installed ? 0 : 1;
