import fs from 'node:fs';
import path from 'node:path';
import { provideN8n } from '../../../dev/n8n/provide.cts';
import { openFolder } from '../../../dev/pack.cts';

const { MEDIA_GENERATION_N8N } = process.env;
afterEach(() => {
	if (MEDIA_GENERATION_N8N === undefined) delete process.env.MEDIA_GENERATION_N8N;
	else process.env.MEDIA_GENERATION_N8N = MEDIA_GENERATION_N8N;
});

describe('a folder in which an n8n is installed, as in the image of n8n', () => {
	it('is used as it is, by the Node beside it', async () => {
		using folder = openFolder();
		const modules = path.join(folder.path, 'node_modules');
		const node = path.join(modules, `node-${process.platform}-${process.arch}`, 'bin', 'node');
		for (const file of [node, path.join(modules, 'n8n', 'package.json')]) {
			fs.mkdirSync(path.dirname(file), { recursive: true });
			fs.writeFileSync(file, JSON.stringify({ version: '3.3.0' }));
		}
		process.env.MEDIA_GENERATION_N8N = folder.path;
		const bin = path.join(modules, 'n8n', 'bin', 'n8n');
		expect(await provideN8n()).toEqual({ node, bin, version: '3.3.0' });
	});

	it('without an n8n is refused, and nothing is installed', async () => {
		using folder = openFolder();
		process.env.MEDIA_GENERATION_N8N = folder.path;
		await expect(provideN8n()).rejects.toThrow(`there is no n8n in ${folder.path}`);
		expect(fs.readdirSync(folder.path)).toEqual([]);
	});
});
