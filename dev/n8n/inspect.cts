import { once } from 'node:events';
import path from 'node:path';
import { WebSocket } from 'ws';
import type { N8n } from './n8n.cts';

/** The environment of an n8n that is to be inspected while it runs. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/** Calls a method of Node's inspector, which speaks the Chrome DevTools Protocol, and returns its result. */
type Call = <Result>(method: string, params?: object) => Promise<Result>;

/** Runs `work` while it can call the inspector of an n8n started with INSPECTABLE, one call after the other. */
async function inspect<Result>(n8n: N8n, work: (call: Call) => Promise<Result>) {
	const [, url] = /Debugger listening on (ws:\S+)/.exec(n8n.readLog()) ?? [];
	if (!url) throw new Error('This n8n was not started with INSPECTABLE');
	const socket = new WebSocket(url);
	await once(socket, 'open');
	try {
		return await work(async <Answer,>(method: string, params = {}) => {
			socket.send(JSON.stringify({ id: 1, method, params }));
			for (;;) {
				const [message] = (await once(socket, 'message')) as unknown[];
				const { id, result } = JSON.parse(String(message)) as { id?: number; result: Answer };
				if (id === 1) return result;
			}
		});
	} finally {
		socket.close();
	}
}

/**
 * Measures the heap of an n8n started with INSPECTABLE, in MB, after garbage was collected. The memory of the process says
 * more about when Node collects than about what is kept.
 */
export const measureLiveMemory = async (n8n: N8n) =>
	await inspect(n8n, async (call) => {
		// Some garbage only goes when what held it has gone.
		for (let round = 0; round < 3; round++) await call('HeapProfiler.collectGarbage');
		const { result } = await call<{ result: { value: number } }>('Runtime.evaluate', {
			expression: 'process.memoryUsage().heapUsed',
		});
		return result.value / 1024 / 1024;
	});

/**
 * Evaluates an expression in an n8n started with INSPECTABLE, and returns what its promise resolves to, as JSON can hold it. There,
 * `load` requires a module as n8n itself does: by its name, or by its path in n8n's build (`./workflow-runner`).
 * @throws {Error} with what the expression throws
 */
export const evaluate = async <Value,>(n8n: N8n, expression: string) =>
	await inspect(n8n, async (call) => {
		const own = path.join(path.dirname(n8n.options.bin), '..', 'dist', 'index.js');
		const { result, exceptionDetails } = await call<{
			result: { value: Value };
			exceptionDetails?: { exception?: { description?: string } };
		}>('Runtime.evaluate', {
			expression: `(async (load) => ${expression})(
				process.getBuiltinModule('module').createRequire(${JSON.stringify(own)}),
			)`,
			awaitPromise: true,
			returnByValue: true,
		});
		if (exceptionDetails) throw new Error(exceptionDetails.exception?.description);
		return result.value;
	});
