import fs from 'node:fs';
import path from 'node:path';
import { root } from '../../../dev/pack.cts';

const folder = path.join(root, '.github', 'workflows');
const texts = fs
	.readdirSync(folder)
	.map((name) => fs.readFileSync(path.join(folder, name), 'utf8'));

it("only the job that publishes may write: it has npm's identity, and runs nothing but npm publish", () => {
	for (const text of texts) expect(text).toMatch(/^permissions:/m);
	const parts = texts.flatMap((text) => text.split(/^  (?=\w+:$)/m));
	const [publish = '', ...others] = parts.filter((part) => /: write|write-all/.test(part));
	expect(others).toEqual([]);
	expect(publish).toMatch(/^publish:\n/);
	expect(publish.match(/\S+: write/g)).toEqual(['id-token: write']);
	const steps = [...publish.matchAll(/^ +(?:- )?(?:uses|run): ([^@\n]+)/gm)];
	expect(steps.map(([, what]) => what)).toEqual([
		'actions/setup-node',
		'actions/download-artifact',
		'npm publish --ignore-scripts --provenance --access public ./packed/*.tgz',
	]);
});

it('actions are pinned by commit, with their version beside it', () => {
	const uses = texts.flatMap((text) => text.match(/\buses:.*/g) ?? []);
	const pinned = /^uses: actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
	expect(uses.filter((line) => !pinned.test(line))).toEqual([]);
	expect(uses.length).toBeGreaterThan(5);
});
