const { execFile } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { promisify } = require('node:util');

const root = path.resolve(__dirname, '../..');

/** What a contributor clones, as far as the steps concern it. */
const COPIED = [
	'.prettierrc.js',
	'credentials',
	'dev',
	'eslint.config.mjs',
	'jest.config.js',
	'nodes',
	'package.json',
	'test/e2e',
	'test/engine',
	'test/unit',
	'tsconfig.dev.json',
	'tsconfig.json',
];

/** A step with code: the file that it names last before the code, the code's language, and the code. */
const STEP = /`([^`\s]+\.c?ts)`[^`]*:\n\n( *)```(ts|diff)\n([\s\S]*?)\n *```/g;

/**
 * Follows a section of CONTRIBUTING.md in a copy of the sources, to the letter.
 * @param {string} title
 */
function follow(title) {
	const document = fs.readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8');
	const section = document.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? '';
	const made = new Map(
		[...section.matchAll(STEP)].map(([, name = '', indent = '', language, code = '']) => {
			const text = code.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
			const file = path.join(root, name);
			return [name, language === 'ts' ? newFile(file, `${text}\n`) : changed(file, text)];
		}),
	);
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-worked-example-'));
	for (const name of COPIED)
		fs.cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
	fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
	for (const [name, text] of made) fs.writeFileSync(path.join(folder, name), text);
	return {
		/** The files that the section makes or changes, in its order. */
		files: [...made.keys()],
		/**
		 * Runs a tool of the copy, and gives out what it printed.
		 * @param {string} script below node_modules
		 * @param {string[]} args
		 */
		async run(script, ...args) {
			const command = [path.join(folder, 'node_modules', script), ...args];
			try {
				const { stdout, stderr } = await promisify(execFile)(process.execPath, command, {
					cwd: folder,
				});
				return stdout + stderr;
			} catch (error) {
				const { stdout, stderr } = /** @type {import('node:child_process').ExecException} */ (
					error
				);
				throw new Error(`${script} ${args.join(' ')}:\n${stdout}${stderr}`);
			}
		},
		/** @returns {new () => import('n8n-workflow').INodeType} the action node, as the copy was built */
		builtNode: () =>
			require(path.join(folder, 'dist/nodes/MediaGeneration/MediaGeneration.node.js'))
				.MediaGeneration,
		/** @returns {typeof import('../../dev/service')} */
		emulator: () => require(path.join(folder, 'dev/service')),
		remove: () => fs.rmSync(folder, { recursive: true, force: true }),
	};
}

/**
 * @param {string} file
 * @param {string} text
 */
function newFile(file, text) {
	if (fs.existsSync(file)) throw new Error(`${file} is there already`);
	return text;
}

/**
 * A file with the additions of a diff: each stands right behind the line that the diff has before it.
 * @param {string} file
 * @param {string} diff
 */
function changed(file, diff) {
	const lines = fs.readFileSync(file, 'utf8').split('\n');
	let at = 0;
	for (const line of diff.split('\n')) {
		if (line.startsWith('@@')) continue;
		if (line.startsWith('+')) lines.splice(at++, 0, line.slice(1));
		else {
			const found = lines.indexOf(line.slice(1), at);
			if (found < 0) throw new Error(`${file} has no line "${line.slice(1)}", as the diff has it`);
			at = found + 1;
		}
	}
	return lines.join('\n');
}

module.exports = { follow };
