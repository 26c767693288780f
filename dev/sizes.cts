import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** How many lines a function may have, because a screen shows no more at once. A declaration isn't a function. */
const LONGEST_FUNCTION = 40;

/** A file in a room. The files that n8n looks for are outside of all rooms, and have the budget `nodes`. */
const HOUSE = /^nodes\/MediaGeneration\/([a-z]+)\//;

/** The files that have a budget. JSON counts only in the product, where it is written by hand. */
const PRODUCT = /^(nodes|credentials)\/.+\.(ts|json)$/;
const TEST = /^test\/.+\.c?ts$/;
const DEV = /^(dev|bench|probe)\/.+\.[cm]?[jt]s$/;

/** The budgets, in leaves. Raise a budget in the commit that needs it, and say why. */
const BUDGETS = path.join('dev', 'config', 'sizes.json');

/** Texts count by their length, so that code doesn't get smaller by moving into a text. */
const CHARACTERS_PER_LEAF = 10;

const countText = (text: string) => Math.max(1, Math.ceil(text.length / CHARACTERS_PER_LEAF));

/** Counts the leaves of a syntax tree. Neither comments nor line breaks change the number. */
function countLeaves(node: ts.Node): number {
	if (ts.isLiteralExpression(node) || ts.isTemplateHead(node)) return countText(node.text);
	if (ts.isTemplateMiddleOrTemplateTail(node)) return countText(node.text);
	let leaves = 0;
	ts.forEachChild(node, (child) => {
		leaves += countLeaves(child);
	});
	return Math.max(1, leaves);
}

/** Lists the functions that are too long. */
function listLongFunctions(source: ts.SourceFile, node: ts.Node = source): string[] {
	const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
	const begin = lineOf(node.getStart(source));
	const lines = lineOf(node.getEnd()) - begin + 1;
	const isLong = ts.isFunctionLike(node) && 'body' in node && node.body && lines > LONGEST_FUNCTION;
	const problems = isLong ? [`${source.fileName}:${begin} is a function of ${lines} lines`] : [];
	ts.forEachChild(node, (child) => void problems.push(...listLongFunctions(source, child)));
	return problems;
}

function getRoom(file: string): string | undefined {
	if (TEST.test(file)) return 'test';
	if (DEV.test(file)) return 'dev';
	if (!PRODUCT.test(file)) return undefined;
	return HOUSE.exec(file)?.[1] ?? 'nodes';
}

/** Prints the sizes, and what is too large. With `--set`, the present sizes become the budgets. */
function main() {
	const sums: Record<string, number> = {};
	const problems: string[] = [];
	const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
	for (const file of execFileSync('git', args).toString().split('\0').sort()) {
		const room = getRoom(file);
		if (!room || !fs.existsSync(file)) continue;
		const text = fs.readFileSync(file, 'utf8');
		const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
		const isJson = file.endsWith('.json');
		const leaves = isJson ? countText(JSON.stringify(JSON.parse(text))) : countLeaves(source);
		sums[room] = (sums[room] ?? 0) + leaves;
		if (PRODUCT.test(file) && !isJson) problems.push(...listLongFunctions(source));
	}
	console.table(sums);
	if (process.argv.includes('--set'))
		fs.writeFileSync(BUDGETS, `${JSON.stringify(sums, null, '\t')}\n`);
	const budgets = JSON.parse(fs.readFileSync(BUDGETS, 'utf8')) as Record<string, number>;
	for (const [room, leaves] of Object.entries(sums))
		if (leaves > (budgets[room] ?? 0))
			problems.push(`${room} has ${leaves} leaves, of ${budgets[room]} in ${BUDGETS}`);
	for (const line of problems) console.error(`✗ ${line}`);
	process.exitCode = problems.length > 0 ? 1 : 0;
}

main();
