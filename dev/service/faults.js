const { z } = require('zod');

/** @typedef {import('zod').infer<typeof taskFaults>} TaskFaults */
/** @typedef {import('zod').infer<typeof requestFault>} RequestFault */

/** What can go wrong with one task. The descriptions are the command line's help. */
const taskFaults = z
	.object({
		fail: z.boolean().describe('the task ends in state fail, with failCode 501'),
		slow: z
			.union([z.boolean(), z.number().positive()])
			.describe('takes ten times as long; #slow=30 takes 30 seconds'),
		neverEnds: z.boolean().describe('the task stays in state generating'),
		noCallback: z.boolean().describe('no callback is sent'),
		callbackTwice: z.boolean().describe('two callbacks are sent at the same instant'),
		callbackEarly: z
			.boolean()
			.describe('the callback is sent when generating starts, and not again at the end'),
		forgedSignature: z.boolean().describe('the callback carries a wrong signature'),
		staleTimestamp: z.boolean().describe('the callback is signed rightly for a time one hour ago'),
		unsigned: z.boolean().describe('the callback carries no signature headers'),
		status: z
			.union([z.literal(true), z.number().int().min(400).max(599)])
			.describe('creating is answered with this HTTP status and code; #status=429; 500 by default'),
		garbage: z.boolean().describe('creating is answered with text that is not JSON'),
		noTaskId: z.boolean().describe('creating is answered with code 200 but no task id'),
		hang: z.boolean().describe('creating is never answered'),
		html403: z.boolean().describe('creating is answered with HTTP 403 and an HTML page'),
		created: z
			.boolean()
			.describe('with one of the five above: the task is made all the same, and runs'),
	})
	.partial()
	.strict();

/** What can go wrong with API requests, whatever they ask for. */
const requestFault = z
	.object({
		times: z.number().int().positive().default(1),
		method: z.string().optional(),
		path: z.string().optional(),
		status: z.number().int().min(200).max(599).optional(),
		code: z.number().int().optional(),
		msg: z.string().optional(),
		message: z.string().optional(),
		garbage: z.boolean().optional(),
		html403: z.boolean().optional(),
		hang: z.boolean().optional(),
		dropConnection: z.boolean().optional(),
		delaySeconds: z.number().nonnegative().optional(),
	})
	.strict();

/**
 * The faults that a prompt names as `#fail`, `#slow=3`. Words that name no fault are left alone.
 *
 * @param {unknown} prompt
 * @returns {TaskFaults}
 */
function faultsInPrompt(prompt) {
	if (typeof prompt !== 'string') return {};
	/** @type {Record<string, unknown>} */
	const named = {};
	for (const [, name = '', value] of prompt.matchAll(/#(\w+)(?:=(\d+(?:\.\d+)?))?/g)) {
		const fault = value === undefined ? true : Number(value);
		if (taskFaults.safeParse({ [name]: fault }).success) named[name] = fault;
	}
	return taskFaults.parse(named);
}

/** The faults that wait for the next API requests. */
function createRequestFaults() {
	/** @type {RequestFault[]} */
	const waiting = [];
	return {
		/**
		 * @param {import('zod').input<typeof requestFault>} fault
		 * @throws {import('zod').ZodError} when the fault has a field that is not known or mistyped
		 */
		add(fault) {
			waiting.push(requestFault.parse(fault));
		},
		/**
		 * The first fault that matches the request, used up by one.
		 *
		 * @param {string} method
		 * @param {string} path
		 * @returns {RequestFault | undefined}
		 */
		take(method, path) {
			const index = waiting.findIndex(
				(fault) => path.startsWith(fault.path ?? '') && method === (fault.method ?? method),
			);
			const fault = waiting[index];
			if (fault && --fault.times === 0) waiting.splice(index, 1);
			return fault;
		},
	};
}

/**
 * Gives the answer that a fault asks for.
 *
 * @param {import('fastify').FastifyRequest} request
 * @param {import('fastify').FastifyReply} reply
 * @param {Partial<RequestFault>} fault
 * @returns {boolean} false when the fault asks for none
 */
function answerFaultily(request, reply, fault) {
	const { status, code, msg, message } = fault;
	if (fault.dropConnection || fault.hang) {
		reply.hijack();
		if (fault.dropConnection) request.raw.socket.destroy();
	} else if (fault.html403) {
		sendHtml403(reply);
	} else if (fault.garbage) {
		void reply
			.code(status ?? 200)
			.type('application/json')
			.send('upstream is warming up');
	} else if ([status, code, msg, message].some((value) => value !== undefined)) {
		const text = message ?? msg ?? 'the service is troubled';
		void reply.code(status ?? 200).send({
			code: code ?? status ?? 500,
			[message === undefined ? 'msg' : 'message']: text,
			data: null,
		});
	} else {
		return false;
	}
	return true;
}

/** @param {import('fastify').FastifyReply} reply */
function sendHtml403(reply) {
	return reply
		.code(403)
		.type('text/html')
		.send('<!DOCTYPE html><html><title>403 Forbidden</title><h1>Forbidden</h1></html>\n');
}

module.exports = { answerFaultily, createRequestFaults, faultsInPrompt, sendHtml403, taskFaults };
