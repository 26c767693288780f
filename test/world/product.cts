import { transformSync } from '@swc/core';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as n8nWorkflow from 'n8n-workflow';
import type { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';

/**
 * All that the world takes of the product is the node. Each process of n8n loads it anew, so that
 * what its modules keep is the process's own. It gets the clock and the network of that process.
 */

/** What a process has, in place of what Node and n8n give. */
export interface Surroundings {
	Date: DateConstructor;
	performance: Pick<Performance, 'now'>;
	Math: Math;
	AbortSignal: typeof AbortSignal;
	setTimeout: (run: () => void, milliseconds: number) => unknown;
	fetch: typeof fetch;
	/** Of `n8n-workflow`. */
	sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

const NODE = path.resolve('nodes/MediaGeneration/MediaGeneration.node.ts');
const GIVEN = ['Date', 'performance', 'Math', 'AbortSignal', 'setTimeout', 'fetch'] as const;

type Exports = Record<string, unknown>;
type Body = (exports: Exports, require: (name: string) => unknown, module: object) => void;
type Module = (...given: unknown[]) => Body;

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
	return new Function(...GIVEN, source) as Module;
}

const resolve = (from: string, name: string): string => {
	const to = path.resolve(path.dirname(from), name);
	return [`${to}.ts`, path.join(to, 'index.ts')].find((file) => existsSync(file)) ?? to;
};

/** Loads the node as a process of n8n does that has just started. */
export function loadNode({ sleep, ...given }: Surroundings): MediaGeneration {
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
		code(...GIVEN.map((name) => given[name]))(exports, request, { exports });
		return exports;
	}
	const { MediaGeneration: Node } = load(NODE) as { MediaGeneration: new () => MediaGeneration };
	return new Node();
}
