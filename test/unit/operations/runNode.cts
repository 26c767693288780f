import { Readable } from 'node:stream';
import type { UserError } from 'n8n-workflow';
import { executeOperation } from '../../../nodes/MediaGeneration/operations/execute';
import { openAccount, settle } from '../corpus';
import { buildContext, type RunSetup } from '../n8n';

interface NodeSetup extends Omit<RunSetup, 'answer'> {
	/** What the service answers at a path, as JSON or as text. */
	answer?: (path: string) => object | string;
	/** Parts of n8n's context. */
	more?: object;
}

const helpers = {
	assertBinaryData() {
		throw new Error('There is none');
	},
	httpRequest: async () => ({
		statusCode: 200,
		headers: {},
		body: Readable.from([Buffer.from('file')]),
	}),
};

/** Runs the node for an item, with these parameters, and an account that nobody used before. */
export async function runNode(ownParameters: object, { answer, more, ...run }: NodeSetup = {}) {
	const { requests, ...account } = openAccount(answer);
	const parameters = { resource: 'task', options: {}, ...ownParameters };
	const hints: string[] = [];
	const context = buildContext(
		{ input: [{}], parameters, hints, helpers, ...account, ...run },
		more,
	);
	const running = executeOperation(context).catch((error: UserError) => ({ error }));
	const outcome = await settle(running);
	const [output = []] = 'error' in outcome ? [] : outcome;
	return {
		output,
		items: output.map(({ json }) => json),
		error: 'error' in outcome ? outcome.error : undefined,
		hints,
		requests,
	};
}

beforeAll(
	() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }),
);
afterAll(() => void jest.useRealTimers());
