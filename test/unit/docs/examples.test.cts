import fs from 'node:fs';
import path from 'node:path';
import { listExamples, readExample } from '../../../dev/fixtures/examples.cts';
import { root } from '../../../dev/pack.cts';

const page = fs.readFileSync(path.join(root, 'docs', 'examples.md'), 'utf8');
/** The rows of the page: the name of an example, its file, and its picture. */
const rows = [
	...page.matchAll(
		/^\| \[([^\]]+)\]\(\.\.\/examples\/(.+)\.json\) \|(?:.*\[picture\]\((.+)\) \|)?/gm,
	),
].map(([, name = '', file = '', picture]) => ({ name, file, picture }));

it('docs list each example once', () => {
	expect(rows.map(({ file }) => file).sort()).toEqual(listExamples().sort());
});

it.each(rows)(
	'$name has the same name in docs, its file, n8n and its note',
	({ name, file, picture }) => {
		expect(file).toBe(name.toLowerCase().replaceAll(' ', '-'));
		expect(picture).toBe(`pictures/example-${file}-normal-light.png`);
		const workflow = readExample(file);
		expect(workflow.name).toBe(name);
		const note = workflow.nodes.find(({ type }) => type.endsWith('.stickyNote'));
		expect(note?.parameters?.content).toMatch(new RegExp(`^## ${name}\n`));
	},
);

it('n8n tells an agent what each of our tools in examples is for', () => {
	const tools = listExamples()
		.flatMap((file) => readExample(file).nodes)
		.filter(({ type }) => /\.mediaGeneration\w*Tool$/.test(type));
	expect(tools.length).toBeGreaterThan(5);
	const toolDescription = expect.stringMatching(/\w/) as string;
	const described = { parameters: { descriptionType: 'manual', toolDescription } };
	expect(tools).toMatchObject(tools.map(() => described));
});
