import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import ts from 'typescript';

/** What keeps a function or a file on one screen of the mind. `npm run lint:house` checks it. */
const LIMITS = {
	/** Lines of a function. A declaration is none. */
	function: 40,
	/** Imports of a file of operations and host. */
	imports: 10,
};

/** The files of a run. The list of all operations is none. */
const RUN = /^nodes\/MediaGeneration\/(operations|host)\/(?!index\.ts$)/;

const listFiles = (...globs: string[]) =>
	execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...globs])
		.toString()
		.split('\n')
		.filter((file) => file && fs.existsSync(file));

const read = (file: string) => fs.readFileSync(file, 'utf8');

const countLines = (files: string[]) =>
	files.reduce((lines, file) => lines + read(file).split('\n').length - 1, 0);

const isFunction = (node: ts.Node): node is ts.FunctionLikeDeclaration =>
	ts.isFunctionDeclaration(node) ||
	ts.isFunctionExpression(node) ||
	ts.isArrowFunction(node) ||
	ts.isMethodDeclaration(node) ||
	ts.isConstructorDeclaration(node) ||
	ts.isAccessor(node);

/** Lists the functions of a file that are too long, and says if it has too many imports. */
function inspect(file: string): string[] {
	const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
	const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
	const found: string[] = [];
	const visit = (node: ts.Node): void => {
		if (isFunction(node) && node.body) {
			const lines = lineOf(node.getEnd()) - lineOf(node.getStart()) + 1;
			const place = `${file}:${lineOf(node.getStart())}`;
			if (lines > LIMITS.function) found.push(`${place} is a function of ${lines} lines`);
		}
		ts.forEachChild(node, visit);
	};
	visit(source);
	const imports = source.statements.filter(ts.isImportDeclaration).length;
	if (RUN.test(file) && imports > LIMITS.imports) found.push(`${file} has ${imports} imports`);
	return found;
}

function main() {
	const productFiles = listFiles('nodes/*.ts', 'credentials/*.ts');
	const product = countLines(productFiles);
	const run = countLines(productFiles.filter((file) => RUN.test(file)));
	const beside = countLines(listFiles('test/*.ts', 'test/*.cts', 'dev/*.cts', 'bench/*.cts'));
	const probe = countLines(listFiles('probe/*.cts'));
	const prose = Buffer.byteLength(listFiles('*.md').map(read).join(''));
	const found = productFiles.flatMap(inspect);
	// For information: a line that is easy to read is worth more than a line saved.
	console.log(
		`product ${product} lines (operations and host ${run}), beside ${(beside / product).toFixed(2)} for one, probe ${probe} lines, prose ${prose} bytes`,
	);
	for (const line of found) console.error(`✗ ${line}`);
	process.exitCode = found.length > 0 ? 1 : 0;
}

main();
