import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { openFolder, root } from '../../../dev/pack.cts';

const FOLDER = path.join(root, '.github/workflows');

interface Job {
	permissions?: Record<string, string>;
	environment?: string;
	needs?: string;
	steps: Array<{ uses?: string; run?: string; with?: Record<string, unknown> }>;
}

interface Workflow {
	permissions: Record<string, string>;
	jobs: Record<string, Job>;
}

const files = fs.readdirSync(FOLDER).map((name) => {
	const text = fs.readFileSync(path.join(FOLDER, name), 'utf8');
	return { ...(parse(text) as Workflow), name, text };
});

const jobs = files.flatMap((file) =>
	Object.entries(file.jobs).map(([job, more]) => ({
		...more,
		name: `${file.name} ${job}`,
		permissions: more.permissions ?? file.permissions,
	})),
);

const findJob = (name: string) => {
	const found = jobs.find((job) => job.name === name);
	if (!found) throw new Error(`There is no job ${name}`);
	return found;
};

const steps = jobs.flatMap((job) => job.steps);
const used = steps.flatMap(({ uses }) => uses ?? []);
const listCommands = (name: string) => findJob(name).steps.flatMap(({ run }) => run ?? []);

it('actions are pinned by commit, with their version beside it, of which there is one', () => {
	const lines = files
		.flatMap(({ text }) => text.split('\n'))
		.filter((line) => /\buses:/.test(line));
	const pinned = /^\s+(- )?uses: actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
	expect(lines.filter((line) => !pinned.test(line))).toEqual([]);
	expect(used).toHaveLength(lines.length);
	expect(used.length).toBeGreaterThan(5);
	// Of one version each.
	const names = [...new Set(used)].map((uses) => uses.split('@')[0]);
	expect(names).toHaveLength(new Set(names).size);
});

it('only the job that publishes may write, and only its identity', () => {
	const writing = jobs.flatMap(({ name, permissions: all }) =>
		Object.entries(all).flatMap(([what, right]) => (right === 'write' ? [[name, what]] : [])),
	);
	expect(writing).toEqual([['publish.yml publish', 'id-token']]);
	expect(files.flatMap(({ permissions: all }) => Object.values(all))).not.toContain('write');
});

it('a checkout leaves no token behind', () => {
	const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
	expect(checkouts.length).toBeGreaterThan(3);
	for (const { with: settings } of checkouts)
		expect(settings).toMatchObject({ 'persist-credentials': false });
});

it('the job that publishes installs, builds and tests nothing, and publishes what was packed', () => {
	const job = findJob('publish.yml publish');
	expect(job).toMatchObject({ environment: 'npm', needs: 'pack' });
	expect(job.steps.map(({ uses, run }) => uses?.split('@')[0] ?? run)).toEqual([
		'actions/setup-node',
		'actions/download-artifact',
		'npm publish --ignore-scripts --provenance --access public ./packed/*.tgz',
	]);
	const [, { with: taken } = {}] = job.steps;
	const handed = findJob('publish.yml pack').steps.at(-1)?.with;
	expect(findJob('publish.yml pack').needs).toBe('test');
	expect(handed).toMatchObject({ name: taken?.name, path: `${String(taken?.path)}/*.tgz` });
});

it('nothing that published files are made of comes from a cache', () => {
	const text = files.find(({ name }) => name === 'publish.yml')?.text ?? '';
	expect(text).not.toMatch(/actions\/cache@|^\s+cache:/m);
	expect(text.match(/package-manager-cache: false/g)).toHaveLength(3);
});

describe('a tag', () => {
	const [check = ''] = listCommands('publish.yml test');

	/** Runs the check of a tag in a clone whose main is at 1.2.3, and that has another branch. */
	function tryTag(tag: string, branch: string) {
		using folder = openFolder();
		const git = (...args: string[]) =>
			execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@a.example', ...args], {
				cwd: folder.path,
				stdio: 'pipe',
			});
		const commit = (message: string) => git('commit', '-q', '--allow-empty', '-m', message);
		git('init', '-q', '-b', 'main');
		fs.writeFileSync(path.join(folder.path, 'package.json'), '{ "version": "1.2.3" }');
		git('add', '.');
		commit('Release');
		git('branch', 'released');
		commit('Go on');
		git('update-ref', 'refs/remotes/origin/main', 'main');
		git('checkout', '-q', '-b', 'other');
		commit('Change what nobody reviewed');
		git('checkout', '-q', branch);
		const { status, stderr } = spawnSync('bash', ['-e', '-c', check], {
			cwd: folder.path,
			env: { ...process.env, GITHUB_REF_NAME: tag },
			encoding: 'utf8',
		});
		return { status, stderr: stderr.trim() };
	}

	it.each([
		['1.2.3', 'main', ''],
		['1.2.3', 'released', ''],
		['1.2.4', 'main', 'The tag is 1.2.4, but package.json has 1.2.3.'],
		['v1.2.3', 'main', 'The tag is v1.2.3, but package.json has 1.2.3.'],
		['1.2.3', 'other', 'The tag 1.2.3 is not on main.'],
	])(
		'is published at a commit of main only, if package.json has it: %s at %s',
		(tag, branch, stderr) => {
			expect(tryTag(tag, branch)).toEqual({ status: stderr ? 1 : 0, stderr });
		},
	);
});
