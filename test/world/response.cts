/** Makes a response of n8n's, as far as the node uses it. */
export function makeResponse() {
	const listeners: Array<() => void> = [];
	let answered = () => {};
	const response = {
		statusCode: 200,
		answer: undefined as unknown,
		writableEnded: false,
		answered: new Promise<void>((resolve) => (answered = resolve)),
		status(code: number) {
			response.statusCode = code;
			return response;
		},
		json(answer: unknown) {
			Object.assign(response, { answer, writableEnded: true });
			answered();
			return response;
		},
		once: (_event: string, listener: () => void) => listeners.push(listener),
		/** Ends the response: the sender has the answer, or hangs up. */
		close() {
			for (const listener of listeners.splice(0)) listener();
			return response;
		},
	};
	return response;
}

export type WebhookResponse = ReturnType<typeof makeResponse>;
