import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createLog } from '../../dev/log.cts';
import { provideN8n } from '../../dev/n8n/provide.cts';
import { pack } from '../../dev/pack.cts';

/** Packs the built package, once for all test files, and makes sure that n8n is installed. */
export default async function setUp() {
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-e2e-'));
	process.env.MEDIA_GENERATION_TARBALL = (await pack(folder)).tarball;
	await provideN8n(createLog());
}
