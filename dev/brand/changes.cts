import type { Brand } from './schema.cts';

/** Replaces the one place that a pattern finds. @throws {Error} if there is none */
function replaceOne(text: string, pattern: RegExp, there: string): string {
	if (!pattern.test(text)) throw new Error(`Nothing was written. There is no ${pattern}`);
	return text.replace(pattern, () => there);
}

interface Manifest {
	description: string;
	keywords: string[];
	scripts: Record<string, string>;
}

function changeManifest(text: string, { name, description }: Brand): string {
	const manifest = JSON.parse(text) as Manifest;
	delete manifest.scripts.brand;
	manifest.description =
		description ??
		`n8n nodes that create videos and images with ${name}, and start workflows from its signed callbacks`;
	const [first = '', ...keywords] = manifest.keywords;
	manifest.keywords = [first, ...keywords.sort((one, other) => one.localeCompare(other))];
	return `${JSON.stringify({ ...manifest, version: '0.1.0' }, null, '\t')}\n`;
}

const changeLog = (text: string) =>
	`${text.split(/^## /m)[0]}## Unreleased\n\nThe first release.\n`;

/** The line of this package must stay with its copies. */
const changeLicense = (text: string, { copyright }: Brand) =>
	replaceOne(text, /(?<=^Copyright .*\n)/m, `Copyright (c) ${copyright}\n`);

const changeCredential = (text: string, { baseUrl }: Brand) =>
	replaceOne(text, /(?<=name: 'baseUrl',\s*type: 'string',\s*default: ')(?=')/, baseUrl);

/** The copy of the interface that is held to. */
const changeContract = (text: string, { baseUrl }: Brand) =>
	replaceOne(text, /(?<="name": "baseUrl", "type": "string", "default": ")(?=")/, baseUrl);

/** What a newcomer is told, who has one service and not any. */
function changeReadme(text: string, { name, baseUrl }: Brand): string {
	const service = `## The service

You need an account with ${name}. This package was tested with an emulator of such a service. For developers, [\`npm run probe\`](CONTRIBUTING.md#a-real-service) lists where the service itself differs.

`;
	const replaced = [
		[/^## Does it work with my service\?\n[\s\S]*?(?=^## )/m, service],
		[/You need two things from your service: its address and a token\./, 'You need a token.'],
		[/(?<=^- \*\*Base URL\*\*: ).*/m, `the address of the service, \`${baseUrl}\`, is filled in.`],
		[/^The names of the last five are made up\..*\n\n/m, ''],
	] as const;
	return replaced.reduce((changed, [here, there]) => replaceOne(changed, here, there), text);
}

/** How this command is used isn't told to those who have its result. */
function changeGuide(text: string): string {
	const differs = 'Where the service differs from what the package was made for, change this:\n\n';
	const section = /(?<=^## Another service\n\n)[\s\S]*?(?=^- )/m;
	return replaceOne(replaceOne(text, section, differs), / For a named service, .*/, '');
}

/** The job that tests the result of this command. */
const changeNightly = (text: string) =>
	replaceOne(text, /^ {2}#.*\n {2}branded:\n[\s\S]*?(?=^ {2}\S)/m, '');

/** Tests of this command, which the result has not. */
const changeOrder = (text: string) =>
	[/ 'e2e\/brand',?/, / 'unit\/dev\/brand\/files',?/].reduce(
		(changed, entry) => replaceOne(changed, entry, ''),
		text,
	);

/** The changes that are more than other words, by file. */
export const changes: Record<string, (text: string, brand: Brand) => string> = {
	'package.json': changeManifest,
	'CHANGELOG.md': changeLog,
	LICENSE: changeLicense,
	'credentials/MediaGenerationApi.credentials.ts': changeCredential,
	'dev/contract/released.json': changeContract,
	'dev/longFirst.js': changeOrder,
	'README.md': changeReadme,
	'CONTRIBUTING.md': changeGuide,
	'.github/workflows/nightly.yml': changeNightly,
};

/** Removes pictures that aren't there, and the column for them if there is none. */
export function removePictures(text: string, isThere: (picture: string) => boolean): string {
	const isMissing = (link: string) => !isThere(link.split('/').at(-1) ?? '');
	const shown = text.replace(/^!\[.*\]\((.*pictures\/.*)\)\n+/gm, (line, link: string) =>
		isMissing(link) ? '' : line,
	);
	const cells = [...shown.matchAll(/ \[picture\]\((.*?)\) \|$/gm)];
	if (cells.length === 0 || cells.some(([, link = '']) => !isMissing(link))) return shown;
	return shown
		.replace(/ \[picture\]\(.*?\) \|$/gm, '')
		.replace(/^(\|.*) Canvas \|\n(\|.*) --- \|$/gm, '$1\n$2');
}
