import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** The most lines of a function, which a screen shows at once. A declaration is none. */
const LONGEST_FUNCTION = 40;

/** The rooms of the product. What stands in none is of `nodes`: the files that n8n looks for. */
const HOUSE = [
	'api',
	'callback',
	'editor',
	'host',
	'lib',
	'media',
	'models',
	'operations',
	'run',
	'trigger',
	'nodes',
] as const;

/** What has a budget. */
const ROOMS = [...HOUSE, 'test', 'dev'] as const;

/** Of JSON, only the product's is written by hand. */
const PRODUCT = /^(nodes|credentials)\/.+\.(ts|json)$/;
const TEST = /^test\/.+\.c?ts$/;
const DEV = /^(dev|bench|probe)\/.+\.[cm]?[jt]s$/;

/** Whoever raises a budget does so in the same commit, and says why. */
const BUDGETS = path.join(__dirname, 'config', 'sizes.json');

type Room = (typeof ROOMS)[number];

/** Texts count by their length, so that code moved into them isn't smaller. */
const CHARACTERS_PER_LEAF = 10;

const countText = (text: string) => Math.max(1, Math.ceil(text.length / CHARACTERS_PER_LEAF));

const parse = (file: string, text: string) =>
	ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);

/** Counts the leaves of a file's syntax tree. Neither comments nor line breaks change the number. */
function countLeaves(file: string, text: string): number {
	if (file.endsWith('.json')) return countText(JSON.stringify(JSON.parse(text)));
	const count = (node: ts.Node): number => {
		if (ts.isLiteralExpression(node) || ts.isTemplateHead(node)) return countText(node.text);
		if (ts.isTemplateMiddleOrTemplateTail(node)) return countText(node.text);
		let leaves = 0;
		ts.forEachChild(node, (child) => {
			leaves += count(child);
		});
		return Math.max(1, leaves);
	};
	return count(parse(file, text));
}

const isFunction = (node: ts.Node): node is ts.FunctionLikeDeclaration =>
	ts.isFunctionDeclaration(node) ||
	ts.isFunctionExpression(node) ||
	ts.isArrowFunction(node) ||
	ts.isMethodDeclaration(node) ||
	ts.isConstructorDeclaration(node) ||
	ts.isAccessor(node);

/** Lists the functions of a file that are too long. */
function inspect(file: string, text: string): string[] {
	const source = parse(file, text);
	const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
	const found: string[] = [];
	const visit = (node: ts.Node): void => {
		if (isFunction(node) && node.body) {
			const lines = lineOf(node.getEnd()) - lineOf(node.getStart()) + 1;
			const place = `${file}:${lineOf(node.getStart())}`;
			if (lines > LONGEST_FUNCTION) found.push(`${place} is a function of ${lines} lines`);
		}
		ts.forEachChild(node, visit);
	};
	visit(source);
	return found;
}

interface Size {
	files: number;
	/** For information: a line that is easy to read is worth more than a line saved. */
	lines: number;
	leaves: number;
}

const measure = (file: string, text: string): Size => ({
	files: 1,
	lines: text.split('\n').length - 1,
	leaves: countLeaves(file, text),
});

const add = (one: Size, other: Size): Size => ({
	files: one.files + other.files,
	lines: one.lines + other.lines,
	leaves: one.leaves + other.leaves,
});

/** Adds up the sizes of files by their group. */
function addUp<Group extends string>(sizes: Map<string, Size>, toGroup: (file: string) => Group) {
	const sums = new Map<Group, Size>();
	for (const [file, size] of sizes) {
		const sum = sums.get(toGroup(file));
		sums.set(toGroup(file), sum ? add(sum, size) : size);
	}
	return Object.fromEntries([...sums].sort(([one], [other]) => one.localeCompare(other))) as Record<
		Group,
		Size
	>;
}

/** The folder of a file, two levels deep, without that of the nodes. */
const getFolder = (file: string) =>
	path.dirname(file).replace('nodes/MediaGeneration/', '').split('/').slice(0, 2).join('/');

function getRoom(file: string): Room | undefined {
	if (TEST.test(file)) return 'test';
	if (DEV.test(file)) return 'dev';
	if (!PRODUCT.test(file)) return undefined;
	return HOUSE.find((room) => file.startsWith(`nodes/MediaGeneration/${room}/`)) ?? 'nodes';
}

/** Reads the files of the rooms, in the working directory. */
function readFiles(): Map<string, string> {
	const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
	const files = execFileSync('git', args).toString().split('\0');
	const measured = files.filter((file) => getRoom(file) && fs.existsSync(file));
	return new Map(measured.map((file) => [file, fs.readFileSync(file, 'utf8')]));
}

/** Says which rooms are above their budgets. */
function compareBudgets(sums: Record<Room, Size>): string[] {
	const budgets = JSON.parse(fs.readFileSync(BUDGETS, 'utf8')) as Record<Room, number>;
	const file = path.relative('.', BUDGETS);
	return ROOMS.filter((room) => sums[room].leaves > budgets[room]).map(
		(room) => `${room} has ${sums[room].leaves} leaves, of ${budgets[room]} in ${file}`,
	);
}

/** With `--folders`, prints the sizes by folder. With `--set 5`, writes budgets of what is there and five percent. */
function main() {
	const [option, percent] = process.argv.slice(2);
	const texts = readFiles();
	const sizes = new Map([...texts].map(([file, text]) => [file, measure(file, text)]));
	if (option === '--folders') return console.table(addUp(sizes, getFolder));
	const sums = addUp(sizes, (file) => getRoom(file) as Room);
	console.table({ ...sums, 'all of the product': HOUSE.map((room) => sums[room]).reduce(add) });
	if (option === '--set') {
		const budgets = ROOMS.map((room) => {
			return [room, Math.ceil(sums[room].leaves * (1 + Number(percent) / 100))];
		});
		fs.writeFileSync(BUDGETS, `${JSON.stringify(Object.fromEntries(budgets), null, '\t')}\n`);
	}
	const product = [...texts].filter(([file]) => PRODUCT.test(file) && file.endsWith('.ts'));
	const found = [
		...product.flatMap(([file, text]) => inspect(file, text)),
		...compareBudgets(sums),
	];
	for (const line of found) console.error(`✗ ${line}`);
	process.exitCode = found.length > 0 ? 1 : 0;
}

main();
