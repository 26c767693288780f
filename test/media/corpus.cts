import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

const others = new Set(['.cts', '.md', '.sh']);

/** The media files of this folder. */
export const names = readdirSync(__dirname).filter((name) => !others.has(extname(name)));

export const readMedia = (name: string) => readFileSync(join(__dirname, name));
