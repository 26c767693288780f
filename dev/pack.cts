const fs = require('node:fs');
const path = require('node:path');
const { npm } = require('./npm.cts');

const root = path.join(__dirname, '..');

/**
 * Packs the built package as it is published.
 * @param {string} folder where the tarball is put
 * @returns {Promise<{ tarball: string, files: string[], size: number }>} `size` in bytes
 */
async function pack(folder) {
	if (!fs.existsSync(path.join(root, 'dist', 'nodes'))) {
		throw new Error('The package is not built: run "npm run build" first');
	}
	const printed = await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
		cwd: root,
		what: 'npm pack',
	});
	const [{ filename, files, size }] = JSON.parse(printed);
	return {
		tarball: path.join(folder, filename),
		files: files.map((/** @type {{ path: string }} */ file) => file.path),
		size,
	};
}

module.exports = { pack, root };
