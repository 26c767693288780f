import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ESLint, type Linter } from 'eslint';
import { logFailure } from './log.cts';
import { openFolder, pack, root } from './pack.cts';

/** The part that we use of n8n's scanner of verified packages. */
interface Scanner {
	buildScanConfig: () => Promise<Linter.Config[]>;
	SOURCE_FILE_PATTERNS: string[];
}

const SCANNER: string = '@n8n/scan-community-package/scanner/scanner.mjs';
const ALLOWED = /^(dist\/.+|README\.md|LICENSE|CHANGELOG\.md|package\.json)$/;
const FORBIDDEN = /(\.c?ts|\.map|\.tsbuildinfo|\.test\.js)$|(^|\/)(test|dev|examples|docs)\//;
const PACKED_PATTERNS = ['**/*.js', '**/*.json'];
/** What GuardDog, with which n8n scans packages, takes for PowerShell fetching a program. */
const SUSPECT = /downloadFile\s*\(/i;

/** Lints as the scanner does, and returns the findings. Unlike the scanner, it also returns warnings. */
async function lint(cwd: string, patterns: string[], config: Linter.Config[]) {
	const eslint = new ESLint({
		cwd,
		allowInlineConfig: false,
		overrideConfigFile: true,
		overrideConfig: config,
	});
	const results = await eslint.lintFiles(patterns);
	return await (await eslint.loadFormatter('stylish')).format(results);
}

async function main() {
	const { buildScanConfig, SOURCE_FILE_PATTERNS } = (await import(SCANNER)) as Scanner;
	const config = await buildScanConfig();
	using folder = openFolder();
	const { tarball, files } = await pack(folder.path);
	execFileSync('tar', ['-xzf', tarball, '-C', folder.path]);
	const extra = files.filter((file) => !ALLOWED.test(file) || FORBIDDEN.test(file));
	const read = (file: string) => readFileSync(path.join(folder.path, 'package', file), 'utf8');
	const suspect = files.filter((file) => file.endsWith('.js') && SUSPECT.test(read(file)));
	const findings = [
		...extra.map((file) => `${file} must not be in the package`),
		...suspect.map((file) => `${file} looks to GuardDog as if it fetched a program`),
		await lint(path.join(folder.path, 'package'), PACKED_PATTERNS, config),
		await lint(root, SOURCE_FILE_PATTERNS, config),
	].filter(Boolean);
	for (const finding of findings) console.log(finding);
	process.exitCode = findings.length > 0 ? 1 : 0;
}

main().catch(logFailure);
