import fs from 'node:fs';
import path from 'node:path';
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
import { root } from '../../dev/pack.cts';
import * as brand from '../../nodes/MediaGeneration/lib/brand';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
import { MediaGenerationTrigger } from '../../nodes/MediaGeneration/MediaGenerationTrigger.node';

const { PACKAGE, NODE_NAME, TRIGGER_NAME, CREDENTIAL, CREDENTIAL_NAME } = brand;
const house = path.join(root, 'nodes/MediaGeneration');
const read = (file: string) => fs.readFileSync(path.join(root, file), 'utf8');

it('the nodes, their codex, the credential and the package have the words of lib/brand', () => {
	const nodes = [new MediaGeneration(), new MediaGenerationTrigger()];
	expect(nodes.map(({ description }) => description)).toMatchObject(
		[NODE_NAME, TRIGGER_NAME].map((name) => ({
			displayName: name,
			defaults: { name },
			credentials: [{ name: CREDENTIAL }],
		})),
	);
	for (const { description } of nodes) {
		const file = `nodes/MediaGeneration/${description.name[0]?.toUpperCase()}${description.name.slice(1)}.node.json`;
		expect(JSON.parse(read(file))).toMatchObject({ node: `${PACKAGE}.${description.name}` });
	}
	expect(new MediaGenerationApi()).toMatchObject({
		name: CREDENTIAL,
		displayName: CREDENTIAL_NAME,
	});
	expect(JSON.parse(read('package.json'))).toMatchObject({ name: PACKAGE });
	expect(new MediaGeneration().description.webhooks).toMatchObject([{ path: brand.SLUG }]);
});

it('no article is before the name, as another name may take the other one', () => {
	const pages = [
		...['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'docs', 'nodes', 'credentials', 'test/e2e'],
	].flatMap((place) =>
		fs.statSync(path.join(root, place)).isFile()
			? place
			: fs
					.readdirSync(path.join(root, place), { recursive: true, encoding: 'utf8' })
					.map((name) => path.join(place, name)),
	);
	const texts = pages.filter((page) => /\.(md|c?ts)$/.test(page));
	expect(texts.length).toBeGreaterThan(100);
	const article = new RegExp(`\\ban? [*"']*(${NODE_NAME}|\\$\\{NODE_NAME|${PACKAGE})`, 'i');
	expect(texts.filter((page) => article.test(read(page)))).toEqual([]);
});

it('nowhere else in the product is a word of the brand', () => {
	const files = fs
		.readdirSync(house, { recursive: true, encoding: 'utf8' })
		.filter((file) => file.includes(path.sep) && file.endsWith('.ts'));
	expect(files).toContain(path.join('lib', 'brand.ts'));
	const words = [NODE_NAME, brand.SLUG, new MediaGeneration().description.name, CREDENTIAL, PACKAGE]
		.map((word) => word.replace(/[ -]/g, '[ _-]?'))
		.join('|');
	const pattern = new RegExp(`(?<![a-z])(${words})(?![a-z])`, 'i');
	const named = files.filter((file) =>
		pattern.test(fs.readFileSync(path.join(house, file), 'utf8')),
	);
	expect(named).toEqual([path.join('lib', 'brand.ts')]);
});
