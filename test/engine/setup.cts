require('reflect-metadata');

const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const folder = mkdtempSync(join(tmpdir(), 'media-generation-engine-'));
process.env.N8N_USER_FOLDER = folder;
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
