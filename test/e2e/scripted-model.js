const http = require('node:http');
const { once } = require('node:events');

/**
 * A chat model with OpenAI's interface that calls the first tool it is offered once, and then says that it is done.
 * @param {object} toolArguments what the tool is called with
 */
async function startScriptedModel(toolArguments) {
	/** What the agent told the model, request by request. @type {any[]} */
	const heard = [];
	const server = http.createServer(async (request, response) => {
		const chunks = [];
		for await (const chunk of request) chunks.push(chunk);
		const { messages, tools } = JSON.parse(Buffer.concat(chunks).toString());
		heard.push({ messages, tools });
		const called = messages.some((/** @type {{ role: string }} */ { role }) => role === 'tool');
		const call = {
			id: 'call_1',
			type: 'function',
			function: { name: tools[0].function.name, arguments: JSON.stringify(toolArguments) },
		};
		const message = called
			? { role: 'assistant', content: 'Done.' }
			: { role: 'assistant', content: null, tool_calls: [call] };
		response.setHeader('content-type', 'application/json');
		response.end(
			JSON.stringify({
				id: 'chat_1',
				object: 'chat.completion',
				created: 0,
				model: 'scripted',
				choices: [{ index: 0, message, finish_reason: called ? 'stop' : 'tool_calls' }],
				usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
			}),
		);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
	return {
		/** What an n8n credential for OpenAI takes. */
		credential: {
			name: 'Scripted model',
			type: 'openAiApi',
			data: { apiKey: 'none', url: `http://127.0.0.1:${port}/v1` },
		},
		/** What the tool told the agent in the last run. */
		toolResult: () =>
			JSON.parse(
				heard.at(-1)?.messages.find((/** @type {any} */ { role }) => role === 'tool').content,
			),
		close: () => server.close(),
	};
}

module.exports = { startScriptedModel };
