import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { runCreating } from '../../../nodes/MediaGeneration/run/generate';
import type { CreatingOperation, Item } from '../../../nodes/MediaGeneration/operations/operation';
import { buildContext, type Run } from '../n8n';

/** What the service makes of a creation: a task of this ID, no answer, or a refusal. */
export type Answer = { taskId: string } | 'unknown' | 'refused';

export interface CreatingOptions extends Run {
	/** Answers each creation, in the order that they come; default: a task named by its item. */
	answer?: (prompt: string, callBackUrl?: string) => Answer;
	/** The prompt of an item's request, or an error in place of it. */
	prompt?: (item: Item) => string;
	/** In Options. By default the rate has no limit, and one task is created after the other. */
	options?: object;
	/** The operation waits. */
	readWait?: CreatingOperation['readWait'];
	more?: Partial<Record<keyof IExecuteFunctions, unknown>>;
}

/** Runs an operation that creates a task for each item, three by default, as n8n runs it. */
export async function create({
	answer = (prompt) => ({ taskId: `task of ${prompt}` }),
	prompt = ({ index }) => String(index),
	options,
	readWait,
	more,
	...run
}: CreatingOptions = {}) {
	const sent: string[] = [];
	const send = async (_: string, { body }: { body: Body }) => {
		const asked = (body.input as { prompt: string }).prompt;
		sent.push(asked);
		const answered = answer(asked, body.callBackUrl);
		if (answered === 'unknown') throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
		if (answered === 'refused') return { statusCode: 200, body: '{"code":422,"msg":"no"}' };
		return { statusCode: 200, body: JSON.stringify({ code: 200, data: answered }) };
	};
	const parameters = { options: { tasksPer10Seconds: 0, concurrency: 1, ...options } };
	const context = buildContext(
		{ input: [{}, {}, {}], ...run },
		{
			getNodeParameter: (name: string, _item: number, fallback: unknown) =>
				({ ...parameters })[name as 'options'] ?? fallback,
			getCredentials: async () => ({ baseUrl: 'https://api.example', accessToken: 'token' }),
			helpers: {
				httpRequestWithAuthentication: send,
				constructExecutionMetaData: (items: object[], { itemData }: { itemData: object }) =>
					items.map((item) => ({ ...item, pairedItem: itemData })),
			},
			addExecutionHints() {},
			...more,
		},
	);
	const operation = {
		fields: [],
		request: async (item: Item) => ({ model: 'model', input: { prompt: prompt(item) } }),
		readWait,
	} as unknown as CreatingOperation;
	const done = await runCreating(context, operation).then(
		(output) => ({ output, error: undefined }),
		(error: unknown) => ({ output: [] as INodeExecutionData[], error: error as Error }),
	);
	return { ...done, sent };
}

interface Body {
	input: object;
	callBackUrl?: string;
}
