import fs from 'node:fs';
import vm from 'node:vm';
import execa from 'execa';
import { NodeHelpers, type INodeProperties } from 'n8n-workflow';

/** What workflows store, by `unit/declaration`, which fails where it isn't that of the code. */
const SNAPSHOT = 'test/unit/__snapshots__/declaration.test.ts.snap';

/** Parameters that decide which others there are. */
const SELECTORS = ['resource', 'operation', 'model'];

type Part = Partial<INodeProperties> & { value?: unknown; values?: Part[] };

/** Describes a parameter, or a part of one, by sentences that must stay true. */
function describePart(parent: string, part: Part): string[] {
	const { name, type, default: preset, required, typeOptions, value } = part;
	if (value !== undefined) return [`${parent} takes ${JSON.stringify(value)}`];
	const place = `${parent}, ${name}`;
	const inside = [part.options, part.values, part.modes].flatMap((list) => (list ?? []) as Part[]);
	return [
		`${place} has ${JSON.stringify({ type, default: preset, several: typeOptions?.multipleValues })}`,
		...(required ? [] : [`${place} may be blank`]),
		...inside.flatMap((one) => describePart(place, one)),
	];
}

/** Describes what is declared, one part in a line of JSON, for each choice of the selectors. */
export function describeNode([first = '{}', ...lines]: string[]): string[] {
	const { name, version = 1 } = JSON.parse(first) as { name: string; version?: number | number[] };
	const properties = lines.map((line) => JSON.parse(line) as INodeProperties);
	const choose = (selector: string) =>
		properties
			.filter((one) => one.name === selector)
			.flatMap((one) => (one.options ?? []) as Part[]);
	let selections: Array<Record<string, string>> = [{}];
	for (const selector of SELECTORS) {
		const values = [...new Set(choose(selector).map(({ value }) => value as string))];
		if (values.length > 0)
			selections = selections.flatMap((one) =>
				values.map((value) => ({ ...one, [selector]: value })),
			);
	}
	return [version].flat().flatMap((typeVersion) =>
		selections.flatMap((selection) => {
			const place = [name, typeVersion, ...Object.values(selection)].join(' ');
			const isShown = (one: INodeProperties) =>
				NodeHelpers.displayParameter(selection, narrow(one, selection), { typeVersion }, null);
			return properties.filter(isShown).flatMap((one) => describePart(place, one));
		}),
	);
}

/** Leaves the conditions of a parameter that the selectors, or the version, decide. */
function narrow({ displayOptions }: INodeProperties, selection: object): INodeProperties {
	const keep = (conditions: object = {}) =>
		Object.fromEntries(
			Object.entries(conditions).filter(([key]) => key === '@version' || key in selection),
		) as object;
	const [show, hide] = [keep(displayOptions?.show), keep(displayOptions?.hide)];
	return { displayOptions: { show, hide } } as unknown as INodeProperties;
}

/** Describes the nodes, the credential and the outputs of a snapshot of Jest. */
function describeSnapshot(text: string): string[] {
	const exports: Record<string, string> = {};
	vm.runInNewContext(text, { exports });
	const toLines = (array: string) =>
		[...array.matchAll(/^ {2}"(.*)",$/gm)].map(([, line = '']) => line);
	// Fields of outputs are sentences already.
	return Object.values(exports)
		.map(toLines)
		.flatMap((lines) => (lines[0]?.startsWith('{') ? describeNode(lines) : lines));
}

/** @returns the sentences of the release that aren't true any more */
export const listBreaks = (before: string[], now: string[]): string[] => {
	const kept = new Set(now);
	return [...new Set(before)].filter((fact) => !kept.has(fact));
};

const git = (...args: string[]) => execa.sync('git', args, { reject: false });

/** Compares what workflows store with that of the last release. Its tag is the newest one. */
function main() {
	const { stdout: tag } = git('describe', '--tags', '--abbrev=0');
	if (!tag) return console.log('There is no tag yet, so no release to compare with');
	const before = describeSnapshot(git('show', `${tag}:${SNAPSHOT}`).stdout);
	const breaks = listBreaks(before, describeSnapshot(fs.readFileSync(SNAPSHOT, 'utf8')));
	for (const fact of breaks) console.error(`✗ No longer true since ${tag}: ${fact}`);
	process.exitCode = breaks.length > 0 ? 1 : 0;
}

if (require.main === module) main();
