import { once } from 'node:events';
import path from 'node:path';
import { WebSocket } from 'ws';
import type { N8n } from './n8n.cts';

/** The environment of an n8n that is to be inspected while it runs. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

interface Evaluated<Value> {
	result: { value: Value };
	exceptionDetails?: { exception?: { description?: string } };
}

/** Calls a method of the inspector of an n8n, which speaks the Chrome DevTools Protocol. */
async function call<Result>(n8n: N8n, method: string, params: object) {
	const [, url] = /Debugger listening on (ws:\S+)/.exec(n8n.readLog()) ?? [];
	if (!url) throw new Error('This n8n was not started with INSPECTABLE');
	const socket = new WebSocket(url);
	await once(socket, 'open');
	try {
		socket.send(JSON.stringify({ id: 1, method, params }));
		for (;;) {
			const [message] = (await once(socket, 'message')) as unknown[];
			const { id, result } = JSON.parse(String(message)) as { id?: number; result: Result };
			if (id === 1) return result;
		}
	} finally {
		socket.close();
	}
}

/**
 * Evaluates an expression in an n8n started with INSPECTABLE, and returns what its promise resolves
 * to, as JSON can hold it. There, `load` requires a module as n8n itself does: by its name, or by
 * its path in n8n's build (`./workflow-runner`).
 * @throws {Error} with what the expression throws
 */
export async function evaluate<Value>(n8n: N8n, expression: string) {
	const own = path.join(path.dirname(n8n.options.bin), '..', 'dist', 'index.js');
	const load = `process.getBuiltinModule('module').createRequire(${JSON.stringify(own)})`;
	const { result, exceptionDetails } = await call<Evaluated<Value>>(n8n, 'Runtime.evaluate', {
		expression: `(async (load) => ${expression})(${load})`,
		awaitPromise: true,
		returnByValue: true,
	});
	if (exceptionDetails) throw new Error(exceptionDetails.exception?.description);
	return result.value;
}
