const { spawnSync } = require('node:child_process');

/** Plain JavaScript: nothing is installed yet. On Windows npm is a script, which needs a shell. */
const npm = (stdio, ...args) =>
	spawnSync('npm', args, { stdio, shell: process.platform === 'win32' }).status;

/** Installs what package.json names, unless it is there, as after `npm ci`. Downloads that fail are tried again. */
const INSTALL = [
	'install',
	...['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=5'],
];
console.log('Checking that the packages of package.json are installed');
process.exitCode = npm('ignore', 'ls') === 0 ? 0 : npm('inherit', ...INSTALL);
