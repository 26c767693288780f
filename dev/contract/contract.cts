import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { ICredentialType, INodeProperties, INodeType } from 'n8n-workflow';

/** What a parameter says that workflows depend on. */
export type Parameter = Pick<INodeProperties, 'name' | 'type' | 'default'> &
	Partial<Pick<INodeProperties, 'required' | 'displayOptions' | 'allowArbitraryValues'>> & {
		/** How many values it takes, and of which range. */
		typeOptions?: Partial<Record<(typeof TYPE_OPTIONS)[number], unknown>>;
		/** The values that it takes. */
		values?: Value[];
		/** Of a resource locator: the names of its modes. */
		modes?: string[];
		/** Of a collection. */
		entries?: Parameter[];
		/** Of a fixed collection, by name. */
		groups?: Record<string, Parameter[]>;
	};

export type Value = Pick<Parameter, 'displayOptions'> & { value: string | number | boolean };

export interface NodeContract {
	inputs: unknown;
	outputs: unknown;
	isTrigger: boolean;
	usableAsTool: boolean;
	credentials: Array<{ name: string; required?: boolean }>;
	/** Where others call it, by name: their path may be known outside of n8n. */
	webhooks: Record<string, object>;
	parameters: Parameter[];
}

/** What workflows store of the package, and read of its output. */
export interface Contract {
	/** Workflows name it with each node. */
	package: string;
	/** By name, then by version. */
	nodes: Record<string, Record<string, NodeContract>>;
	/** The parameters of each credential. */
	credentials: Record<string, Parameter[]>;
	/** The schemas of outputs, by their path in `__schema__`. */
	outputs: Record<string, object>;
}

/** They say which values a parameter takes; others are for the editor only. */
const TYPE_OPTIONS = ['multipleValues', 'minValue', 'maxValue', 'numberPrecision'] as const;

/** They store nothing. */
const SHOWN_ONLY = new Set(['notice', 'callout', 'button']);

const pick = <Key extends string>(
	from: object,
	keys: readonly Key[],
): Partial<Record<Key, never>> =>
	Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key as Key))) as never;

function readParameter(property: INodeProperties): Parameter {
	const { type, options = [], modes, typeOptions } = property;
	const parameter: Parameter = {
		...pick(property, ['name', 'type', 'default', 'required', 'displayOptions']),
		...pick(property, ['allowArbitraryValues']),
	} as unknown as Parameter;
	const limits = pick(typeOptions ?? {}, TYPE_OPTIONS);
	if (Object.keys(limits).length > 0) parameter.typeOptions = limits;
	if (modes) parameter.modes = modes.map(({ name }) => name);
	if (type === 'collection') parameter.entries = readParameters(options as INodeProperties[]);
	else if (type === 'fixedCollection')
		parameter.groups = Object.fromEntries(
			(options as Array<{ name: string; values: INodeProperties[] }>).map(({ name, values }) => [
				name,
				readParameters(values),
			]),
		);
	else if (property.options)
		parameter.values = options.map((option) => pick(option, ['value', 'displayOptions']) as never);
	return parameter;
}

const readParameters = (properties: INodeProperties[]): Parameter[] =>
	properties.filter(({ type }) => !SHOWN_ONLY.has(type)).map(readParameter);

/** The parts of a webhook that its callers, or n8n, know it by. */
const WEBHOOK = ['httpMethod', 'path', 'isFullPath', 'restartWebhook', 'nodeType'] as const;

function readNode({ description }: INodeType): Record<string, NodeContract> {
	const { version, inputs, outputs, group, usableAsTool, credentials = [] } = description;
	const contract: NodeContract = {
		inputs,
		outputs,
		isTrigger: group.includes('trigger'),
		usableAsTool: Boolean(usableAsTool),
		credentials: credentials.map((one) => pick(one, ['name', 'required']) as never),
		webhooks: Object.fromEntries(
			(description.webhooks ?? []).map((webhook) => [webhook.name, pick(webhook, WEBHOOK)]),
		),
		parameters: readParameters(description.properties),
	};
	return Object.fromEntries([version].flat().map((one) => [String(one), contract]));
}

/** Makes the contract of nodes and credentials. */
export const makeContract = (
	name: string,
	nodes: INodeType[],
	credentials: ICredentialType[],
	outputs: Contract['outputs'] = {},
): Contract => ({
	package: name,
	nodes: Object.fromEntries(nodes.map((node) => [node.description.name, readNode(node)])),
	credentials: Object.fromEntries(
		credentials.map((one) => [one.name, readParameters(one.properties)]),
	),
	outputs,
});

/** Reads the schemas in the `__schema__` beside a node. */
function readSchemas(folder: string): Contract['outputs'] {
	if (!fs.existsSync(folder)) return {};
	const files = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
	const schemas = files.filter((file) => file.endsWith('.json')).sort();
	return Object.fromEntries(
		schemas.map((file) => [
			file.split(path.sep).join('/'),
			JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8')) as object,
		]),
	);
}

const load = createRequire(__filename);

/** Makes an instance of each class that a built file exports. */
const instantiate = <Class extends object>(folder: string, files: string[]): Class[] =>
	files.flatMap((file) => {
		const classes = load(path.resolve(folder, file)) as Record<string, new () => Class>;
		return Object.values(classes).map((Built) => new Built());
	});

/**
 * Reads the contract of a package in a folder, as it was built.
 * @throws if it isn't built, or depends on what isn't installed there
 */
export function readContract(folder: string): Contract {
	const file = path.join(folder, 'package.json');
	const { name, n8n } = JSON.parse(fs.readFileSync(file, 'utf8')) as {
		name: string;
		n8n: { nodes: string[]; credentials: string[] };
	};
	const folders = new Set(n8n.nodes.map((node) => path.join(folder, path.dirname(node))));
	const outputs = [...folders].map((one) => readSchemas(path.join(one, '__schema__')));
	return makeContract(
		name,
		instantiate<INodeType>(folder, n8n.nodes),
		instantiate<ICredentialType>(folder, n8n.credentials),
		Object.assign({}, ...outputs) as Contract['outputs'],
	);
}
