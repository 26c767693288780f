import fs from 'node:fs';
import path from 'node:path';
import execa from 'execa';
import { itAtNight } from '../../../dev/fixtures/night.cts';
import { openFolder, root } from '../../../dev/pack.cts';

type Models = typeof import('../../../nodes/MediaGeneration/models/index');
type Emulator = typeof import('../../../dev/service/models.cts');

/** What tests read at the top level. */
const FILES = [
	'jest.config.js',
	'gulpfile.js',
	'package.json',
	'tsconfig.json',
	'tsconfig.dev.json',
];

const SNAPSHOT = 'test/unit/__snapshots__/declaration.test.ts.snap';
const house = path.join(root, 'nodes/MediaGeneration');
const guide = fs.readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8');

/** A step with code: the file that it names last before the code, the code's language, and the code. */
const STEP =
	/`([^`\s]+\.(?:c?ts|json))`[^`]*(?:`\w+`[^`]*)?:\n\n( *)```(ts|json|diff)\n([\s\S]*?)\n *```/g;

const readSection = (heading: string) =>
	guide.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';

/** Copies the sources into a folder. */
function copySources(folder: string) {
	for (const name of ['nodes', 'credentials', 'icons', 'dev', 'bench', 'probe', 'test', ...FILES])
		fs.cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
	fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
}

/** Follows a section in a copy of the sources. Returns the files that its code makes or changes. */
function follow(folder: string, heading: string) {
	copySources(folder);
	return [...readSection(heading).matchAll(STEP)].map(
		([, name = '', indent = '', language, code = '']) => {
			const file = path.join(folder, name);
			const text = code.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
			const isNew = language !== 'diff';
			const content = isNew ? `${text}\n` : applyDiff(fs.readFileSync(file, 'utf8'), text);
			fs.mkdirSync(path.dirname(file), { recursive: true });
			fs.writeFileSync(file, content, { flag: isNew ? 'wx' : 'w' });
			return name;
		},
	);
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

/** Runs a command in the copy. @throws with its output, if it fails */
const runIn = async (folder: string, command: string, args: string[]) =>
	await execa(command, args, { cwd: folder, preferLocal: true, localDir: root, all: true });

/** Runs tests of the copy. */
const runTests = async (folder: string, ...names: string[]) =>
	await runIn(folder, 'jest', ['--selectProjects', 'unit', '--maxWorkers', '1', ...names]);

/** Checks the types of these files of the copy, and of all that they import. */
async function checkTypes(folder: string, names: string[]) {
	const config = {
		extends: './tsconfig.dev.json',
		include: [],
		files: names.filter((name) => /\.c?ts$/.test(name)),
	};
	fs.writeFileSync(path.join(folder, 'tsconfig.touched.json'), JSON.stringify(config));
	await runIn(folder, 'tsc', ['-p', 'tsconfig.touched.json']);
}

/** Lists files of the copy that differ from the sources. */
const listChanged = (folder: string) =>
	fs
		.readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name)))
		.filter((file) => {
			const [copy, source] = [path.join(folder, file), path.join(root, file)];
			return !fs.existsSync(source) || !fs.readFileSync(copy).equals(fs.readFileSync(source));
		})
		.sort();

itAtNight(
	'a sixth model, added to the letter of CONTRIBUTING.md, touches five files beside docs and sends what the emulator takes',
	async () => {
		using folder = openFolder();
		const touched = [
			'nodes/MediaGeneration/models/epsilonUpscale.ts',
			'nodes/MediaGeneration/models/index.ts',
			'dev/fixtures/models.cts',
			'dev/service/models.cts',
		];
		expect(follow(folder.path, 'Add a model')).toEqual(touched);
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
		await runTests(folder.path, 'unit/declaration', 'unit/models/index', '-u');
		expect(listChanged(folder.path)).toEqual([...touched, SNAPSHOT].sort());
	},
);

itAtNight(
	'an operation, added to the letter of CONTRIBUTING.md, touches eight files beside docs, has correct types, and passes its tests',
	async () => {
		using folder = openFolder();
		const touched = [
			'nodes/MediaGeneration/operations/file/getLink.ts',
			'nodes/MediaGeneration/operations/index.ts',
			'nodes/MediaGeneration/__schema__/v1.1.0/file/getLink.json',
			'test/unit/api/schemas.test.ts',
			'test/unit/operations/file/getLink.test.ts',
			'test/unit/operations/toldModels.test.cts',
			'test/e2e/agents.test.cts',
		];
		expect(follow(folder.path, 'Add an operation')).toEqual(touched);
		const suites = ['declaration', 'api/schemas', 'file/getLink', 'operations/index'];
		await runTests(folder.path, ...suites.map((name) => `unit/.*${name}`), '-u');
		// The rows of the other operations take a minute.
		await runTests(folder.path, 'unit/.*toldModels', '-t', 'getLink|each operation');
		expect(listChanged(folder.path)).toEqual([...touched, SNAPSHOT].sort());
		await checkTypes(folder.path, touched);
	},
);

it('each room is in the table of CONTRIBUTING.md, and each room of the table exists', () => {
	const rows = [...readSection('The house').matchAll(/^\| `([\w/]+)` \|/gm)];
	const rooms = rows.map(([, room = '']) => room);
	const list = (folder: string) =>
		fs
			.readdirSync(path.join(house, folder), { withFileTypes: true })
			.filter((entry) => entry.isDirectory())
			.map(({ name }) => path.posix.join(folder, name));
	const ofOperations = /`operations` \|.* in (.*) \|/.exec(readSection('The house'))?.[1] ?? '';
	const kinds = [...ofOperations.matchAll(/`(\w+)`/g)].map(([, kind]) => `operations/${kind}`);
	const existing = [...list('.'), ...list('operations')].filter((room) => room !== '__schema__');
	expect([...rooms, ...kinds].sort()).toEqual(existing.sort());
});

it('the lists of files in CONTRIBUTING.md name files that exist', () => {
	const lists = ['Two ways', 'Change the signature', 'Another service'].map(readSection).join();
	const files = [...lists.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.c?ts)`/g)].map(
		([, file = '']) => file,
	);
	expect(files.length).toBeGreaterThan(25);
	const isThere = (file: string) =>
		[house, root].some((folder) => fs.existsSync(path.join(folder, file)));
	expect(files.filter((file) => !isThere(file))).toEqual([]);
});

it('the words of the house are at most fifteen', () => {
	const lines = readSection('Words').match(/^- \*\*/gm) ?? [];
	expect(lines.length).toBeGreaterThan(5);
	expect(lines.length).toBeLessThanOrEqual(15);
});
