import { NodeHelpers, type INodeParameters, type INodeTypeDescription } from 'n8n-workflow';
import type { Parameter, Value } from './contract.cts';

/** Parameters that stand beside each other, in the contract before and now. */
export interface Level {
	before: Parameter[];
	now: Parameter[];
}

/** Where parameters are compared. */
export interface Place {
	/** Begins the sentence about what breaks. */
	path: string;
	/** Absent: of a credential. */
	node?: { name: string; version: string };
	/** Those of the node, or of the credential, and the values that they have. */
	root: Level & { values: Values };
}

type Values = Record<string, unknown>;

/**
 * Values of the parameters that decide what is shown, by the keys of `displayOptions`. A path that
 * begins with `/` starts at the root.
 */
export type Situation = Record<string, unknown>;

type Shown = Pick<Parameter, 'displayOptions'>;

/** Stands for any text that nothing mentions. */
const OTHER = 'something else';

/** n8n runs a node that an agent uses as one of another name. */
const TOOL = '@tool';

/** Says whether n8n shows it, and so reads its value. */
export function isShownIn(situation: Situation, place: Place, shown: Shown): boolean {
	const { siblings, root } = toValues(situation, place);
	const { node } = place;
	return NodeHelpers.displayParameter(
		siblings as INodeParameters,
		shown as never,
		node ? { typeVersion: Number(node.version) } : null,
		node
			? ({ name: node.name + (root[TOOL] === true ? 'Tool' : '') } as INodeTypeDescription)
			: null,
		root as INodeParameters,
	);
}

/** Makes the values of a node, or of what is inside of one of its parameters. */
export function toValues(
	situation: Situation,
	{ root: { values } }: Place,
): { siblings: Values; root: Values } {
	const root = structuredClone(values);
	const siblings: Values = {};
	for (const [key, value] of Object.entries(situation)) {
		if (key === TOOL) root[TOOL] = value;
		else if (key.startsWith('/')) setAt(root, key.slice(1), value);
		else setAt(siblings, key, value);
	}
	return { siblings: { ...root, ...siblings }, root };
}

function setAt(values: Values, path: string, value: unknown): void {
	const [first = '', ...rest] = path.split('.');
	if (rest.length === 0) values[first] = value;
	else setAt((values[first] ??= {}) as Values, rest.join('.'), value);
}

/** Lists the situations that decide whether parameters of one name are shown. */
export function listSituations({ root }: Place, level: Level, named: Level): Situation[] {
	const isTop = level.before === root.before;
	const conditions = new Map<string, unknown[]>();
	for (const shown of [...named.before, ...named.now].flatMap(listShown))
		for (const [key, values] of Object.entries({ ...shown.hide, ...shown.show })) {
			const normal = isTop && /^\w/.test(key) ? `/${key}` : key;
			const all = [...(shown.hide?.[key] ?? []), ...(shown.show?.[key] ?? []), ...(values ?? [])];
			conditions.set(normal, [...(conditions.get(normal) ?? []), ...all]);
		}
	let situations: Situation[] = [{}];
	for (const [key, mentioned] of conditions) {
		const values = listValues(key, mentioned, key.startsWith('/') ? root : level, root.values);
		if (values)
			situations = situations.flatMap((one) => values.map((value) => ({ ...one, [key]: value })));
	}
	return situations;
}

/** Who left it blank has no workflow that runs. */
export const wantsValue = ({ required, default: value }: Parameter): boolean =>
	required === true && isBlank(value);

/** Also a list without entries, and a resource locator without a choice. */
function isBlank(value: unknown): boolean {
	if (Array.isArray(value)) return value.every(isBlank);
	if (typeof value === 'object' && value !== null && 'value' in value) return isBlank(value.value);
	return value === '' || value === undefined || value === null;
}

/** Lists the display options of a parameter and of its values. */
const listShown = (parameter: Parameter) =>
	[parameter, ...(parameter.values ?? [])].flatMap((one: Parameter | Value) =>
		one.displayOptions ? [one.displayOptions] : [],
	);

/**
 * Lists the values that a parameter can have in workflows that were made before.
 * @returns undefined if the place decides it
 */
function listValues(
	key: string,
	mentioned: unknown[],
	{ before, now }: Level,
	known: Values,
): unknown[] | undefined {
	if (key === '@version') return undefined;
	if (key === TOOL) return TOOL in known ? undefined : [false, true];
	const [name = '', ...inside] = key.replace(/^\//, '').split('.');
	if (key.startsWith('/') && name in known) return undefined;
	const old = before.filter((one) => one.name === name);
	// Old workflows have no value for it.
	if (!old.length) return [now.find((one) => one.name === name)?.default];
	const values = old.flatMap((one) => one.values ?? []).map(({ value }) => value);
	const isFree = inside.length > 0 || old.some((one) => !one.values || one.allowArbitraryValues);
	if (inside.length === 0 && old.every(({ type }) => type === 'boolean')) return [true, false];
	const targets = mentioned.flatMap(toTargets);
	const all = new Set(isFree ? [...values, ...targets, undefined, '', OTHER] : values);
	return [...all].filter((value) => !isBlank(value) || !old.every(wantsValue));
}

/** The values around which a condition decides. */
function toTargets(condition: unknown): unknown[] {
	if (typeof condition !== 'object' || condition === null || !('_cnd' in condition))
		return [condition];
	return Object.values(condition._cnd as object).flatMap((target: unknown) =>
		typeof target === 'number' ? [target - 1, target, target + 1] : [target],
	);
}
