const fs = require('node:fs');
const path = require('node:path');

/** Removes what setup.js packed. */
module.exports = async function tearDown() {
	const tarball = process.env.MEDIA_GENERATION_TARBALL;
	if (tarball) fs.rmSync(path.dirname(tarball), { recursive: true, force: true });
};
