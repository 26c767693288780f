import { transformSync } from '@swc/core';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as n8nWorkflow from 'n8n-workflow';
import type { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';

/**
 * The world takes only the node of the product. Each process of n8n loads the node anew, so that what its
 * modules remember belongs to the process. The node gets the clock and the network of the process.
 */

/** What a process gives the node in place of Node's and n8n's own. */
export interface Surroundings {
	Date: DateConstructor;
	performance: Pick<Performance, 'now'>;
	Math: Math;
	AbortSignal: typeof AbortSignal;
	setTimeout: (run: () => void, milliseconds: number) => unknown;
	fetch: typeof fetch;
	/** The function of `n8n-workflow`. */
	sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

const NODE = path.resolve('nodes/MediaGeneration/MediaGeneration.node.ts');
const NAMES = ['Date', 'performance', 'Math', 'AbortSignal', 'setTimeout', 'fetch'] as const;

type Exports = Record<string, unknown>;
type Body = (exports: Exports, require: (name: string) => unknown, module: object) => void;
type Module = (...globals: unknown[]) => Body;

/** The files of the product, compiled once for all processes. */
const compiled = new Map<string, Module>();

function compile(file: string): Module {
	const { code } = transformSync(readFileSync(file, 'utf8'), {
		filename: file,
		jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
		module: { type: 'commonjs' },
	});
	const source = `return function (exports, require, module) { ${code}\n};\n//# sourceURL=${file}`;
	// eslint-disable-next-line @typescript-eslint/no-implied-eval
	return new Function(...NAMES, source) as Module;
}

const resolve = (from: string, name: string): string => {
	const to = path.resolve(path.dirname(from), name);
	return [`${to}.ts`, path.join(to, 'index.ts')].find((file) => existsSync(file)) ?? to;
};

/** Loads the node, as a process of n8n does at its start. */
export function loadNode({ sleep, ...globals }: Surroundings): MediaGeneration {
	const loaded = new Map<string, Exports>();
	const n8n: unknown = Object.create(n8nWorkflow, { sleep: { value: sleep } });
	function load(file: string): Exports {
		const known = loaded.get(file);
		if (known) return known;
		const code = compiled.get(file) ?? compile(file);
		compiled.set(file, code);
		const exports: Exports = {};
		loaded.set(file, exports);
		const request = (name: string): unknown => {
			if (name === 'n8n-workflow') return n8n;
			// eslint-disable-next-line @typescript-eslint/no-require-imports
			return name.startsWith('.') ? load(resolve(file, name)) : require(name);
		};
		code(...NAMES.map((name) => globals[name]))(exports, request, { exports });
		return exports;
	}
	const { MediaGeneration: Node } = load(NODE) as { MediaGeneration: new () => MediaGeneration };
	return new Node();
}
