import { once } from 'node:events';
import path from 'node:path';
import { WebSocket } from 'ws';
import type { N8n } from './n8n.cts';

/** The environment of an n8n that `evaluate` can inspect while it runs. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/** The answer of the inspector, which speaks the Chrome DevTools Protocol. */
interface Answer<Value> {
	result: {
		result: { value: Value };
		exceptionDetails?: { exception?: { description?: string } };
	};
}

/**
 * Evaluates an expression in an n8n started with INSPECTABLE, and returns what its promise resolves
 * to, as far as JSON can hold it. In the expression, `load` requires a module as n8n does: by its name,
 * or by its path in n8n's build (`./workflow-runner`).
 * @throws {Error} with what the expression throws
 */
export async function evaluate<Value>(n8n: N8n, expression: string) {
	const [, url] = /Debugger listening on (ws:\S+)/.exec(n8n.readLog()) ?? [];
	if (!url) throw new Error('This n8n was not started with INSPECTABLE');
	const own = path.join(path.dirname(n8n.options.bin), '..', 'dist', 'index.js');
	const load = `process.getBuiltinModule('module').createRequire(${JSON.stringify(own)})`;
	const params = {
		expression: `(async (load) => ${expression})(${load})`,
		awaitPromise: true,
		returnByValue: true,
	};
	const socket = new WebSocket(url);
	await once(socket, 'open');
	socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params }));
	// Without a subscription to events, the only message is the answer.
	const [message] = (await once(socket, 'message')) as unknown[];
	socket.close();
	const { result, exceptionDetails } = (JSON.parse(String(message)) as Answer<Value>).result;
	if (exceptionDetails) throw new Error(exceptionDetails.exception?.description);
	return result.value;
}
