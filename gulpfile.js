const fs = require('node:fs/promises');
const path = require('node:path');
const { dest, series, src } = require('gulp');
const { n8n } = require('./package.json');

const ICON_FOLDERS = ['icons'];

/**
 * Stops the build when a node lacks one of the files that n8n needs beside it: its codex file, and the light and the dark
 * icon that its description names.
 */
async function checkNodes() {
	for (const node of n8n.nodes) {
		const built = path.resolve(node);
		const source = path.relative('dist', node);
		const codex = source.replace(/\.js$/, '.json');
		const { resources, node: id } = JSON.parse(await fs.readFile(codex, 'utf8').catch(() => '{}'));
		if (!resources) throw new Error(`${node} lacks its codex file, with resources: ${codex}`);
		const [NodeType] = Object.values(require(built));
		const { description } = new NodeType();
		if (!id.endsWith(`.${description.name}`)) throw new Error(`${codex} is the codex of ${id}`);
		for (const theme of ['light', 'dark']) {
			const icon = description.icon?.[theme]?.replace(/^file:/, '');
			const file = icon && path.join(path.dirname(source), icon);
			if (!file || !(await fs.stat(file).catch(() => undefined)))
				throw new Error(`${node} lacks its ${theme} icon: ${file ?? 'none is named'}`);
		}
	}
}

/** Everything in `dist` that is no part of the package: `n8n-node build` copies each picture of the tree. */
async function clean() {
	const kept = new Set(['credentials', 'nodes', ...ICON_FOLDERS]);
	for (const entry of await fs.readdir('dist'))
		if (!kept.has(entry)) await fs.rm(path.join('dist', entry), { recursive: true });
}

function copyCodexAndIcons() {
	const files = ['nodes/**/*.node.json', ...ICON_FOLDERS.map((folder) => `${folder}/**/*.svg`)];
	return src(files, { base: '.', encoding: false }).pipe(dest('dist'));
}

exports.default = series(clean, copyCodexAndIcons, checkNodes);
