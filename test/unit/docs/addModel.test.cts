import fs from 'node:fs';
import path from 'node:path';
import { openFolder, root } from '../../../dev/pack.cts';

type Models = typeof import('../../../nodes/MediaGeneration/models/index');
type Emulator = typeof import('../../../dev/service/models.cts');

/** A step with code: the file that it names last before the code, the code's language, and the code. */
const STEP = /`([^`\s]+\.c?ts)`[^`]*:\n\n( *)```(ts|diff)\n([\s\S]*?)\n *```/g;

/** Follows "Add a model" in a copy of the sources. Returns the files that it makes or changes. */
function follow(folder: string) {
	for (const name of ['nodes', 'dev/service', 'dev/fixtures'])
		fs.cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
	fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
	const document = fs.readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8');
	const [, section = ''] = /^## Add a model\n([\s\S]*?)^## /m.exec(document) ?? [];
	return [...section.matchAll(STEP)].map(([, name = '', indent = '', language, code = '']) => {
		const file = path.join(folder, name);
		const text = code.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
		const isNew = language === 'ts';
		const content = isNew ? `${text}\n` : applyDiff(fs.readFileSync(file, 'utf8'), text);
		fs.writeFileSync(file, content, { flag: isNew ? 'wx' : 'w' });
		return name;
	});
}

/** Finds the lines around each change as the diff has them, and adds those between. */
const applyDiff = (text: string, diff: string) =>
	diff.split('@@\n').reduce((changed, hunk) => {
		const lines = hunk.trimEnd().split('\n');
		const join = (some: string[]) => some.map((line) => `${line.slice(1)}\n`).join('');
		const before = join(lines.filter((line) => !line.startsWith('+')));
		expect(changed).toContain(before);
		return changed.replace(before, () => join(lines));
	}, text);

it('the worked example of CONTRIBUTING.md, followed to the letter, sends what the emulator takes', async () => {
	using folder = openFolder();
	expect(follow(folder.path)).toEqual([
		'nodes/MediaGeneration/models/epsilonUpscale.ts',
		'nodes/MediaGeneration/models/index.ts',
		'dev/fixtures/models.cts',
		'dev/service/models.cts',
	]);
	const load = async <Module,>(file: string) =>
		(await import(path.join(folder.path, file))) as Module;
	const { models } = await load<Models>('nodes/MediaGeneration/models/index.ts');
	const { readOrder } = await load<Emulator>('dev/service/models.cts');
	const image = 'https://media.example/photo.png';
	const values: Record<string, unknown> = { image, seed: 7 };
	const model = models.find(({ id }) => id === 'epsilon/upscale');
	const request = await model?.request({
		read: (name) => values[name],
		option: () => undefined,
		hasFile: () => false,
		describe: async () => undefined,
	});
	const { order } = readOrder(JSON.parse(JSON.stringify(request)), 'contract');
	expect(order).toEqual({ model: 'epsilon/upscale', input: { image_url: image, seed: 7 } });
});
