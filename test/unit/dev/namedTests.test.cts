import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { LONG } from '../../../dev/longFirst.js';
import { root } from '../../../dev/pack.cts';

const listFiles = (...folders: string[]) =>
	execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...folders], {
		cwd: root,
	})
		.toString()
		.split('\n')
		.filter((file) => file && fs.existsSync(path.join(root, file)));

const read = (file: string) => fs.readFileSync(path.join(root, file), 'utf8');

/** Reads Jest's projects, as they are on a push or at night. */
function readProjects(when: 'push' | 'night') {
	const env = { ...process.env, NIGHT_TESTS: when === 'push' ? 'off' : undefined };
	const replaced = jest.replaceProperty(process, 'env', env);
	let projects: Array<Record<'displayName', string> & Record<string, string[] | undefined>> = [];
	jest.isolateModules(() => {
		({ projects } = jest.requireActual('../../../jest.config.js'));
	});
	replaced.restore();
	return (name: string) => projects.find(({ displayName }) => displayName === name);
}

/** The files of tests, as notes name them: `e2e/sleep`. */
const tests = listFiles('test').flatMap((file) => /^test\/(.+)\.test\.c?ts$/.exec(file)?.[1] ?? []);

it('each test file that starts first exists', () => {
	expect(LONG.length).toBeGreaterThan(10);
	expect(LONG.filter((name) => !tests.includes(name))).toEqual([]);
});

it('each test file that a push leaves to the night exists, and the night leaves none', () => {
	const left = readProjects('push')('e2e')?.testPathIgnorePatterns ?? [];
	const names = left.map((file) => file.replace(/^test\/|\.test\.cts$/g, ''));
	expect(names.length).toBeGreaterThan(3);
	expect(names.filter((name) => !tests.includes(name))).toEqual([]);
	expect(readProjects('night')('e2e')?.testPathIgnorePatterns).toEqual([]);
});

it('each test file that a comment names exists, and each fact about n8n names the one that fails first', () => {
	const named = listFiles('nodes', 'dev', 'bench', 'test').flatMap((file) =>
		[...read(file).matchAll(/`((?:unit|engine|service|e2e|queue)\/[\w/]+)`/g)].map(
			([, name = '']) => ({ file, name }),
		),
	);
	expect(named.filter(({ name }) => !tests.includes(name))).toEqual([]);
	const facts = listFiles('nodes/MediaGeneration/host');
	expect(facts.filter((file) => !named.some((one) => one.file === file))).toEqual([]);
});

it('each file of the zod4 project exists, and it has no fewer tests than before', () => {
	const files = readProjects('push')('zod4')?.testMatch ?? [];
	const texts = files.map((file) => read(file.replace('<rootDir>/', '')));
	const titles = texts.flatMap((text) => text.match(/^\t*it(\.each)?\(/gm) ?? []);
	// Raise it with what is added. A test that moves takes its file along in jest.config.js.
	expect(titles.length).toBeGreaterThanOrEqual(84);
});
