import fs from 'node:fs';
import path from 'node:path';

/** Removes what `setup.cts` packed. */
export default function tearDown() {
	const tarball = process.env.MEDIA_GENERATION_TARBALL;
	if (tarball) fs.rmSync(path.dirname(tarball), { recursive: true, force: true });
}
