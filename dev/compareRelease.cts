import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import {
	NodeHelpers,
	type ICredentialType,
	type INodeProperties,
	type INodeType,
} from 'n8n-workflow';
import { runCommand } from './command.cts';
import { logFailure } from './log.cts';
import { root } from './pack.cts';

/** Parameters that decide which others there are. Each operation is compared with each model. */
const SELECTORS = ['resource', 'operation', 'model'];

/** They store nothing. */
const SHOWN_ONLY = new Set(['notice', 'callout', 'button']);

type Selection = Record<string, string | number | boolean>;

/** A node as far as workflows depend on it. */
export type Described = Pick<INodeType['description'], 'name' | 'version' | 'properties'>;

function describeParameter(parent: string, property: INodeProperties): string[] {
	const { name, type, options = [], modes = [], typeOptions } = property;
	const place = `${parent}${name}`;
	const inside = options.flatMap((option) => {
		if ('values' in option)
			return option.values.flatMap((one) => describeParameter(`${place}, ${option.name}, `, one));
		if ('type' in option) return describeParameter(`${place}, `, option);
		return `${place} takes ${JSON.stringify(option.value)}`;
	});
	return [
		`${place} has the type ${type}${typeOptions?.multipleValues ? ', several' : ''}`,
		`${place} has the default ${JSON.stringify(property.default)}`,
		...(property.required ? [] : [`${place} may be blank`]),
		...(property.allowArbitraryValues ? [`${place} takes any value`] : []),
		...modes.map((mode) => `${place} has the mode ${mode.name}`),
		...inside,
	];
}

/** Says whether an operation, with a model, has a parameter. Further conditions aren't compared. */
function isShown({ displayOptions }: INodeProperties, selection: Selection, version: number) {
	const narrow = (conditions: object = {}) =>
		Object.fromEntries(
			Object.entries(conditions).filter(([key]) => key === '@version' || key in selection),
		);
	const [show, hide] = [narrow(displayOptions?.show), narrow(displayOptions?.hide)];
	const narrowed = { displayOptions: { show, hide } } as unknown as INodeProperties;
	return NodeHelpers.displayParameter(selection, narrowed, { typeVersion: version }, null);
}

function listSelections(properties: INodeProperties[], version: number): Selection[] {
	let selections: Selection[] = [{}];
	for (const name of SELECTORS)
		selections = selections.flatMap((selection) => {
			const shown = properties.filter(
				(one) => one.name === name && isShown(one, selection, version),
			);
			const options = shown.flatMap((one) => one.options ?? []);
			const values = options.flatMap((option) => ('value' in option ? [option.value] : []));
			return values.length === 0
				? [selection]
				: values.map((value) => ({ ...selection, [name]: value }));
		});
	return selections;
}

/** Lists what workflows depend on, as sentences that must stay true. Words and order aren't among them. */
export const describeNode = ({ name, version, properties }: Described): string[] =>
	[version].flat().flatMap((one) =>
		listSelections(properties, one).flatMap((selection) => {
			const place = [`${name} ${one}`, ...Object.values(selection)].join(', ');
			return properties
				.filter((property) => !SHOWN_ONLY.has(property.type) && isShown(property, selection, one))
				.flatMap((property) => describeParameter(`${place}: `, property));
		}),
	);

/** @returns the sentences of the release that aren't true any more */
export const listBreaks = (before: string[], now: string[]): string[] => {
	const kept = new Set(now);
	return [...new Set(before)].filter((fact) => !kept.has(fact));
};

const load = createRequire(__filename);

const readJson = (...names: string[]) =>
	JSON.parse(fs.readFileSync(path.join(...names), 'utf8')) as unknown;

/** Lists the fields of an output, which later nodes read. */
function describeSchema(place: string, value: unknown): string[] {
	const { type, properties = {}, items } = value as Record<string, object | undefined>;
	return [
		`${place} has the type ${JSON.stringify(type)}`,
		...Object.entries(properties).flatMap(([name, one]) =>
			describeSchema(`${place}, ${name}`, one),
		),
		...(items ? describeSchema(`${place}[]`, items) : []),
	];
}

/** Describes a built package in a folder. */
function describePackage(folder: string): string[] {
	const { n8n } = readJson(folder, 'package.json') as {
		n8n: { nodes: string[]; credentials: string[] };
	};
	const instantiate = <Instance,>(file: string) =>
		Object.values(load(path.join(folder, file)) as Record<string, new () => Instance>).map(
			(Built) => new Built(),
		);
	const credentials = n8n.credentials.flatMap((file) => instantiate<ICredentialType>(file));
	const nodes = n8n.nodes.flatMap((file) => instantiate<INodeType>(file));
	const files = fs.readdirSync(path.join(folder, 'dist'), { recursive: true, encoding: 'utf8' });
	return [
		...credentials.flatMap((one) => describeNode({ ...one, version: 1 })),
		...nodes.flatMap(({ description }) => describeNode(description)),
		...files
			.filter((file) => file.includes('__schema__') && file.endsWith('.json'))
			.flatMap((file) => describeSchema(file, readJson(folder, 'dist', file))),
	];
}

/** Compares the build with the package that npm has, if it has one. @throws if npm can't be asked */
async function main() {
	const { name } = readJson(root, 'package.json') as { name: string };
	// In here, its nodes find what they import.
	const cache = path.join(root, 'node_modules', '.cache');
	fs.mkdirSync(cache, { recursive: true });
	const folder = fs.mkdtempSync(path.join(cache, 'release-'));
	try {
		const args = ['pack', `${name}@latest`, '--json', '--pack-destination', folder];
		const printed = await runCommand('npm', args, { cwd: folder, what: 'npm pack' }).catch(
			(error: Error) => {
				if (/\bE404\b/.test(error.message)) return undefined;
				throw error;
			},
		);
		if (printed === undefined)
			return console.log(`npm has no ${name} yet, so there is no release to compare with`);
		const [{ filename, version }] = JSON.parse(printed) as [{ filename: string; version: string }];
		execFileSync('tar', ['-xzf', path.join(folder, filename), '-C', folder]);
		const breaks = listBreaks(describePackage(path.join(folder, 'package')), describePackage(root));
		for (const fact of breaks) console.error(`✗ No longer true since ${version}: ${fact}`);
		console.log(`${breaks.length} breaks since ${version}`);
		if (breaks.length > 0) process.exitCode = 1;
	} finally {
		fs.rmSync(folder, { recursive: true, force: true });
	}
}

if (require.main === module) main().catch(logFailure);
