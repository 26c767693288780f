import { isUtf8 } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { logFailure } from './log.cts';
import { root } from './pack.cts';

const USAGE = 'npm run brand -- brand.json ../n8n-nodes-acme';

/** Who makes the package. The address is where its repository is. */
const AUTHOR = /^(.+) <(\S+@\S+)> \((https:\/\/github\.com\/[\w-]+)\)$/;

/** What a brand says, and how. */
const ENTRIES = {
	service: [
		/^[A-Za-z][A-Za-z0-9]*([ .-][A-Za-z0-9]+)*(?<!tool|trigger|api)$/i,
		'the name of the service as the editor shows it, such as Acme Media: it begins with a letter, and does not end in Tool, Trigger or API, which n8n or this package appends',
	],
	package: [/^(@[a-z0-9][\w.-]*\/)?n8n-nodes-[a-z0-9][a-z0-9._-]*$/, 'n8n-nodes-… at npm'],
	baseUrl: [/^https:\/\/[^\s'"\\?#]*[^\s'"\\?#/]$/, 'https://… without a slash at the end'],
	author: [AUTHOR, 'such as Acme Inc. <developers@acme.example> (https://github.com/acme)'],
} satisfies Record<string, [RegExp, string]>;

export type Brand = Record<keyof typeof ENTRIES, string> & {
	/** The editor finds both nodes by them, beside the words for every service. */
	searchWords: string[];
};

const isListOfTexts = (value: unknown) =>
	Array.isArray(value) && value.every((text) => typeof text === 'string' && text.trim() !== '');

/** @throws {Error} that lists each entry which is missing or malformed */
export function parseBrand(value: Partial<Brand>): Brand {
	const wrong = Object.entries(ENTRIES)
		.filter(([name, [pattern]]) => !pattern.test(value[name as keyof typeof ENTRIES] ?? ''))
		.map(([name, [, description]]) => `${name}: ${description}`);
	if (!isListOfTexts(value.searchWords))
		wrong.push('searchWords: a list of texts, such as the names of models that people look for');
	if (wrong.length > 0) throw new Error(`Correct these entries:\n- ${wrong.join('\n- ')}`);
	return value as Brand;
}

const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as {
	name: string;
	author: { name: string; email: string };
	repository: { url: string };
};

/** Writes the name of a service as this one's is written in a place: MediaGeneration, media-generation, … */
function respell(here: string, service: string): string {
	const separator = here.slice('media'.length, -'generation'.length);
	const isUpper = here === here.toUpperCase();
	const isLower = here === here.toLowerCase();
	const cased = isUpper ? service.toUpperCase() : isLower ? service.toLowerCase() : service;
	if (/\s/.test(separator)) return cased;
	const words = cased.split(/[ .-]/);
	if (separator || isUpper || isLower) return words.join(separator);
	const joined = words.map(([first = '', ...rest]) => first.toUpperCase() + rest.join('')).join('');
	return here.startsWith('m') ? joined.charAt(0).toLowerCase() + joined.slice(1) : joined;
}

/** Returns a function that puts the names of a brand in the place of this package's, also in paths. */
function createSpeller({ service, package: packageName, author }: Brand) {
	const [, holder = '', email = '', home = ''] = AUTHOR.exec(author) ?? [];
	const [repository = ''] = /https:.*(?=\.git)/.exec(manifest.repository.url) ?? [];
	// The longest first, and all in one go, so that nothing is replaced twice.
	const known = new Map([
		[repository, `${home}/${packageName.replace(/^@.*\//, '')}`],
		[manifest.author.name, holder],
		[manifest.author.email, email],
		[manifest.name, packageName],
		['an asynchronous media generation service', service],
	]);
	const texts = [...known.keys()].map((text) => text.replaceAll('.', '\\.'));
	const pattern = new RegExp([...texts, 'media[\\s_-]?generation'].join('|'), 'gi');
	return (text: string) =>
		text.replace(pattern, (found) => known.get(found) ?? respell(found, service));
}

/** What only this package has: this command, and pictures that show its name. */
const LEFT_OUT = /^(dev\/brand\.cts|test\/unit\/dev\/brand\.test\.cts|docs\/pictures\/.*)$/;

/** Changes of a text beside its spellings, by the name of its file here. */
function change(name: string, text: string, { baseUrl, author, searchWords }: Brand): string {
	// Pictures in pages and in cells of tables.
	if (name.endsWith('.md')) return text.replace(/!?\[[^\]]*\]\(\S*pictures\/[^)]*\)/g, '');
	if (name === 'package.json') return text.replace(/\t\t"brand": .*\n/, '');
	if (name === 'LICENSE') {
		const [holder] = author.split(' <');
		const own = `Copyright (c) ${new Date().getFullYear()} ${holder}\n`;
		return text.replace(/^Copyright .*\n/m, (line) => line + own);
	}
	if (name.endsWith('.node.json')) {
		const entries = searchWords.map((word) => `\t\t${JSON.stringify(word)},\n`).join('');
		return text.replace(/"alias": \[\n/, (begin) => begin + entries);
	}
	if (!name.endsWith('.credentials.ts')) return text;
	return text.replace(/(?<=name: 'baseUrl',\s*type: 'string',\s*default: ')(?=')/, () => baseUrl);
}

/** Makes the package of a brand, of the files that git tracks here. @throws {Error} if the folder has files */
export function makePackage(brand: Brand, folder: string): void {
	const found = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
	if (found.some((name) => name !== '.git' && name !== 'node_modules'))
		throw new Error(`There are files in ${folder}. Give another folder, or remove them there`);
	const spell = createSpeller(brand);
	const listed = execFileSync('git', ['ls-files', '-z'], { cwd: root }).toString().split('\0');
	for (const name of listed.filter((one) => one && !LEFT_OUT.test(one))) {
		const source = path.join(root, name);
		if (!fs.existsSync(source)) continue;
		const data = fs.readFileSync(source);
		const text = isUtf8(data) && !data.includes(0) ? data.toString() : undefined;
		// The license of this package must stay with its copies.
		const spelt = name === 'LICENSE' ? text : text && spell(text);
		const target = path.join(folder, spell(name));
		fs.mkdirSync(path.dirname(target), { recursive: true });
		fs.writeFileSync(target, spelt === undefined ? data : change(name, spelt, brand), {
			mode: fs.statSync(source).mode,
		});
	}
}

function main() {
	const [file, folder, ...others] = process.argv.slice(2);
	if (!file || !folder || others.length > 0) throw new Error(`Usage: ${USAGE}`);
	const brand = parseBrand(JSON.parse(fs.readFileSync(file, 'utf8')) as Partial<Brand>);
	makePackage(brand, path.resolve(folder));
	console.log(
		`${brand.package} is in ${folder}. What is left to do by hand: CONTRIBUTING.md there`,
	);
}

if (require.main === module) {
	try {
		main();
	} catch (error) {
		logFailure(error as Error);
	}
}
