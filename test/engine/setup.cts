import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'media-generation-engine-'));
process.env.N8N_USER_FOLDER = folder;
process.env.N8N_LOG_LEVEL = 'silent';
afterAll(() => rmSync(folder, { recursive: true, force: true }));
