import { isDeepStrictEqual } from 'node:util';
import type { Parameter } from './contract.cts';
import {
	isShownIn,
	listSituations,
	toValues,
	wantsValue,
	type Level,
	type Place,
	type Situation,
} from './situations.cts';

/**
 * Finds what breaks in the parameters of a node or of a credential. n8n drops a stored value whose
 * parameter isn't shown beside the other values. So the parameters of one name are compared in each
 * situation in which one was shown.
 */
export function compareParameters(
	place: Pick<Place, 'path' | 'node'>,
	before: Parameter[],
	now: Parameter[],
): string[] {
	const breaks = compareLevel({ ...place, root: { before, now, values: {} } }, { before, now });
	return [...breaks].map(([found, situation]) => found + describe(situation));
}

/** Says where something was found first. */
function describe(situation: Situation): string {
	const values = Object.entries(situation).map(
		([key, value]) => `${key.replace('/', '')} ${JSON.stringify(value)}`,
	);
	return values.length ? ` (with ${values.join(', ')})` : '';
}

function compareLevel(place: Place, level: Level): Map<string, Situation> {
	const { before, now } = level;
	const breaks = new Map<string, Situation>();
	for (const name of new Set([...before, ...now].map((one) => one.name))) {
		const at = { ...place, path: `${place.path}, ${name}` };
		const isNamed = (one: Parameter) => one.name === name;
		const named = { before: before.filter(isNamed), now: now.filter(isNamed) };
		for (const situation of listSituations(place, level, named))
			for (const found of compareNamed(situation, at, named))
				if (!breaks.has(found)) breaks.set(found, situation);
	}
	return breaks;
}

/** Compares the parameters of one name in one situation. */
function compareNamed(situation: Situation, place: Place, { before, now }: Level): string[] {
	const { path } = place;
	const isShown = (one: Parameter) => isShownIn(situation, place, one);
	const old = before.find(isShown);
	const shown = now.filter(isShown);
	// Several may be shown, one of them hidden, to keep a value.
	const current = shown.find(({ type }) => type === old?.type) ?? shown[0];
	if (old && current) return compareParameter(situation, place, old, current);
	if (old) return [now.length ? `${path} is hidden` : `${path} is gone`];
	return current && wantsValue(current) ? [`${path} is new, required and blank`] : [];
}

function compareParameter(
	situation: Situation,
	place: Place,
	before: Parameter,
	now: Parameter,
): string[] {
	const { path } = place;
	if (before.type !== now.type)
		return [`${path} was of the type ${before.type} and is of the type ${now.type}`];
	const breaks = compareLimits(path, before.typeOptions, now.typeOptions);
	if (!isDeepStrictEqual(before.default, now.default) && !wantsValue(before))
		breaks.push(`${path} has another default`);
	if (!before.required && wantsValue(now)) breaks.push(`${path} is required now`);
	if (before.allowArbitraryValues && !now.allowArbitraryValues)
		breaks.push(`${path} no longer takes any value`);
	const listValues = ({ values = [] }: Parameter) =>
		values.filter((one) => isShownIn(situation, place, one)).map(({ value }) => value);
	const values = listValues(now);
	for (const value of listValues(before))
		if (!values.includes(value)) breaks.push(`${path} no longer takes ${JSON.stringify(value)}`);
	for (const mode of before.modes ?? [])
		if (!now.modes?.includes(mode)) breaks.push(`${path} has no mode ${mode}`);
	return [...breaks, ...compareInside(situation, place, before, now)];
}

/** Compares what stands in a collection. */
function compareInside(
	situation: Situation,
	place: Place,
	before: Parameter,
	now: Parameter,
): string[] {
	const root = { ...place.root, values: toValues(situation, place).root };
	const compare = (path: string, old: Parameter[], current: Parameter[]) => [
		...compareLevel({ ...place, path, root }, { before: old, now: current }).keys(),
	];
	const breaks = compare(place.path, before.entries ?? [], now.entries ?? []);
	for (const [name, entries] of Object.entries(before.groups ?? {})) {
		const path = `${place.path}, ${name}`;
		const current = now.groups?.[name];
		breaks.push(...(current ? compare(path, entries, current) : [`${path} is gone`]));
	}
	return breaks;
}

type Limits = NonNullable<Parameter['typeOptions']>;

/** Stored values were in the range of before, and are checked against that of now. */
function compareLimits(path: string, before: Limits = {}, now: Limits = {}): string[] {
	const breaks: string[] = [];
	const toNumber = (value: unknown, unset: number) => (typeof value === 'number' ? value : unset);
	if (Boolean(before.multipleValues) !== Boolean(now.multipleValues))
		breaks.push(`${path} changed whether it takes several values`);
	if (toNumber(now.minValue, -Infinity) > toNumber(before.minValue, -Infinity))
		breaks.push(`${path} has a higher least value`);
	if (toNumber(now.maxValue, Infinity) < toNumber(before.maxValue, Infinity))
		breaks.push(`${path} has a lower greatest value`);
	if (toNumber(now.numberPrecision, Infinity) < toNumber(before.numberPrecision, Infinity))
		breaks.push(`${path} takes fewer decimals`);
	return breaks;
}
