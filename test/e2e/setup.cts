const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { createLog } = require('../../dev/log.cts');
const { provideN8n } = require('../../dev/n8n/provide.cts');
const { pack } = require('../../dev/pack.cts');

/** Packs the built package, once for all test files, and makes sure that n8n is installed. */
module.exports = async function setUp() {
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-e2e-'));
	process.env.MEDIA_GENERATION_TARBALL = (await pack(folder)).tarball;
	await provideN8n({ log: createLog() });
};
