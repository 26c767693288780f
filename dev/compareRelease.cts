import fs from 'node:fs';
import vm from 'node:vm';
import execa from 'execa';

/** The snapshot of what workflows store. `unit/declaration` holds it to the code. */
const SNAPSHOT = 'test/unit/__snapshots__/declaration.test.ts.snap';

/** The keys that a declaration, or a part of one, must keep. The `name` of a choice is a text, which may change. */
const KEPT = ['version', 'value', 'type', 'options', 'values', 'modes'] as const;

type Conditions = Record<string, unknown[]>;
type Part = Partial<Record<(typeof KEPT)[number] | 'name' | 'default' | 'required', unknown>> & {
	displayOptions?: { show?: Conditions; hide?: Conditions };
};

const isSame = (was: unknown, now: unknown) => JSON.stringify(was) === JSON.stringify(now);

/** Whether a parameter still shows wherever it showed before. `@version` may be added, as new node versions do. */
function isShown({ displayOptions: was = {} }: Part, { displayOptions: now = {} }: Part): boolean {
	const has = (list: unknown[] = [], value: unknown) => list.some((one) => isSame(one, value));
	const shows = ([key, values]: [string, unknown[]]) =>
		key === '@version' || was.show?.[key]?.every((value) => has(values, value));
	const hides = ([key, values]: [string, unknown[]]) =>
		values.every((value) => has(was.hide?.[key], value));
	return Object.entries(now.show ?? {}).every(shows) && Object.entries(now.hide ?? {}).every(hides);
}

/** Whether the declaration now has all that the earlier one has. Additions are free. */
export function holdsAll(was: unknown, now: unknown): boolean {
	if (Array.isArray(was)) return was.every((one) => [now].flat().some((two) => holdsAll(one, two)));
	if (typeof was !== 'object' || was === null) return [now].flat().includes(was);
	const [before, after] = [was as Part, (now ?? {}) as Part];
	if ((after.required && !before.required) || !isShown(before, after)) return false;
	if (!isSame(before.default, after.default)) return false;
	return [...KEPT, ...('value' in before ? [] : (['name'] as const))].every(
		(key) => before[key] === undefined || holdsAll(before[key], after[key]),
	);
}

/** Reads the lines of a snapshot: declarations as JSON, and sentences about outputs. */
function readSnapshot(text: string): unknown[] {
	const exports: Record<string, string> = {};
	vm.runInNewContext(text, { exports });
	return Object.values(exports).flatMap((array) =>
		[...array.matchAll(/^ {2}"(.*)",$/gm)].map(([, line = '']): unknown =>
			line.startsWith('{') ? JSON.parse(line) : line,
		),
	);
}

const runGit = (...args: string[]) => execa.sync('git', args, { reject: false }).stdout;

/** Compares what workflows store with the last release, whose tag is the newest. */
function main() {
	const tag = runGit('describe', '--tags', '--abbrev=0');
	if (!tag) return console.log('There is no tag yet, so no release to compare with');
	const now = readSnapshot(fs.readFileSync(SNAPSHOT, 'utf8'));
	for (const part of readSnapshot(runGit('show', `${tag}:${SNAPSHOT}`))) {
		if (now.some((one) => holdsAll(part, one))) continue;
		console.error(`✗ No longer so since ${tag}: ${JSON.stringify(part)}`);
		process.exitCode = 1;
	}
}

if (require.main === module) main();
