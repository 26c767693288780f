const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { ESLint } = require('eslint');
const { pack, root } = require('./pack.cts');

const ALLOWED = /^(dist\/.+|README\.md|LICENSE|CHANGELOG\.md|package\.json)$/;
const REQUIRED = ['README.md', 'LICENSE', 'CHANGELOG.md', 'package.json'];
const FORBIDDEN = /(\.ts|\.map|\.tsbuildinfo|\.test\.js)$|(^|\/)(test|dev|examples|docs)\//;
const PACKED_PATTERNS = ['**/*.js', '**/*.json'];

/**
 * Lints as n8n's scanner of verified packages does, and counts warnings too, which the scanner lets pass.
 * @param {string} cwd
 * @param {string[]} patterns
 * @param {import('eslint').Linter.Config[]} config
 * @returns {Promise<string>} the findings
 */
async function lint(cwd, patterns, config) {
	const eslint = new ESLint({
		cwd,
		allowInlineConfig: false,
		overrideConfigFile: true,
		overrideConfig: config,
	});
	const results = await eslint.lintFiles(patterns);
	return await (await eslint.loadFormatter('stylish')).format(results);
}

/** @param {string[]} files */
function wrongFiles(files) {
	const extra = files.filter((file) => !ALLOWED.test(file) || FORBIDDEN.test(file));
	const missing = REQUIRED.filter((file) => !files.includes(file));
	return [
		...extra.map((file) => `${file} must not be in the package`),
		...missing.map((file) => `${file} is missing from the package`),
	];
}

async function main() {
	const scannerModule = '@n8n/scan-community-package/scanner/scanner.mjs';
	const { buildScanConfig, SOURCE_FILE_PATTERNS } = await import(scannerModule);
	const config = await buildScanConfig();
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-packed-'));
	try {
		const { tarball, files, size } = await pack(folder);
		execFileSync('tar', ['-xzf', tarball, '-C', folder]);
		const findings = [
			...wrongFiles(files),
			await lint(path.join(folder, 'package'), PACKED_PATTERNS, config),
			await lint(root, SOURCE_FILE_PATTERNS, config),
		].filter(Boolean);
		console.log(`The packed package: ${files.length} files, ${(size / 1000).toFixed(1)} kB`);
		if (findings.length === 0) return;
		console.log(findings.join('\n'));
		process.exitCode = 1;
	} finally {
		fs.rmSync(folder, { recursive: true, force: true });
	}
}

main().catch((error) => {
	console.error(error.message);
	process.exitCode = 1;
});
