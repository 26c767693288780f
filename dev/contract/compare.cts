import { isDeepStrictEqual } from 'node:util';
import { compareParameters } from './parameters.cts';
import type { Contract, NodeContract } from './contract.cts';

/**
 * Finds what would break workflows that were made with the contract before. Additions, texts and the
 * order in which things are shown don't.
 * @returns a sentence for each
 */
export function findBreaks(before: Contract, now: Contract): string[] {
	const breaks = [
		...(before.package === now.package
			? []
			: [`The package ${before.package} is now ${now.package}`]),
		...compareNodes(before, now),
		...compareCredentials(before, now),
		...Object.entries(before.outputs).flatMap(([file, schema]) =>
			compareSchemas(`Output ${file}`, schema, now.outputs[file]),
		),
	];
	return [...new Set(breaks)];
}

const compareNodes = (before: Contract, now: Contract): string[] =>
	Object.entries(before.nodes).flatMap(([name, versions]) => {
		const current = now.nodes[name];
		if (!current) return [`Node ${name} is gone`];
		return Object.entries(versions).flatMap(([version, contract]) => {
			const node = current[version];
			const place = { path: `Node ${name}, version ${version}`, node: { name, version } };
			if (!node) return [`${place.path}, is gone`];
			return [
				...compareNode(place.path, contract, node),
				...compareParameters(place, contract.parameters, node.parameters),
			];
		});
	});

/** New ones may only follow those of before. */
const beginsWith = (before: unknown, now: unknown): boolean =>
	Array.isArray(before) && Array.isArray(now)
		? isDeepStrictEqual(now.slice(0, before.length), before)
		: isDeepStrictEqual(before, now);

function compareNode(path: string, before: NodeContract, now: NodeContract): string[] {
	const breaks: string[] = [];
	for (const key of ['inputs', 'outputs'] as const)
		if (!beginsWith(before[key], now[key])) breaks.push(`${path}, has other ${key}`);
	if (before.isTrigger !== now.isTrigger) breaks.push(`${path}, changed whether it is a trigger`);
	if (before.usableAsTool && !now.usableAsTool) breaks.push(`${path}, is no longer a tool`);
	for (const { name } of before.credentials)
		if (!now.credentials.some((one) => one.name === name))
			breaks.push(`${path}, takes no credential ${name}`);
	for (const { name, required } of now.credentials)
		if (required && !before.credentials.some((one) => one.name === name && one.required))
			breaks.push(`${path}, requires the credential ${name}`);
	for (const [name, webhook] of Object.entries(before.webhooks))
		if (!isDeepStrictEqual(webhook, now.webhooks[name]))
			breaks.push(`${path}, has another webhook ${name}`);
	return breaks;
}

const compareCredentials = (before: Contract, now: Contract): string[] =>
	Object.entries(before.credentials).flatMap(([name, parameters]) => {
		const current = now.credentials[name];
		if (!current) return [`Credential ${name} is gone`];
		return compareParameters({ path: `Credential ${name}` }, parameters, current);
	});

interface Schema {
	type?: unknown;
	properties?: Record<string, Schema>;
	items?: Schema;
}

/** Later nodes read the fields of an output, so each stays, with its type. */
function compareSchemas(path: string, before: Schema, now?: Schema): string[] {
	if (!now) return [`${path} is gone`];
	const [was, is] = [before.type, now.type].map((type) => JSON.stringify(type));
	if (was !== is) return [`${path} was ${was} and is ${is}`];
	const fields = Object.entries(before.properties ?? {}).flatMap(([name, schema]) =>
		compareSchemas(`${path}: ${name}`, schema, now.properties?.[name]),
	);
	return [...fields, ...(before.items ? compareSchemas(`${path}[]`, before.items, now.items) : [])];
}
