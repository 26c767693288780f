import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

/** The faults of one task. The descriptions are the command line's help. */
export const taskFaults = z
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
			.union([z.literal(true), z.number().int().min(300).max(599)])
			.describe('creating is answered with this HTTP status and code; #status=429; 500 by default'),
		garbage: z.boolean().describe('creating is answered with text that is not JSON'),
		noTaskId: z.boolean().describe('creating is answered with code 200 but no task id'),
		hang: z.boolean().describe('creating is never answered'),
		html403: z.boolean().describe('creating is answered with HTTP 403 and an HTML page'),
		created: z
			.boolean()
			.describe('with one of the five above: the task is made all the same, and runs'),
		accepted: z
			.number()
			.int()
			.min(200)
			.max(599)
			.describe('the task is made and its ID answered, but with this HTTP status; #accepted=202'),
		code: z
			.number()
			.int()
			.describe('the task is made and its ID answered, but with this code in the body; #code=201'),
		numericId: z.boolean().describe("the task's ID is a number of 19 digits"),
		lateRecord: z
			.union([z.boolean(), z.number().positive()])
			.describe('for a second the details say that the record is null; #lateRecord=3 for three'),
		files: z.number().int().positive().describe('how many result files there are; #files=3'),
		fileSize: z
			.number()
			.positive()
			.describe(
				'result files have this many MB: their "task ID/name\\n" again and again; #fileSize=20',
			),
		fileSlow: z
			.number()
			.positive()
			.describe('a result file takes so many seconds to arrive; #fileSlow=5'),
		fileStalls: z.boolean().describe('result files stop after three bytes, and stay open'),
		fileBreaks: z.boolean().describe('the connection is cut in the middle of a result file'),
		fileRefused: z
			.boolean()
			.describe('result files are answered with HTTP 403, and their links are not renewed'),
		fileRedirects: z.boolean().describe('result files are behind one redirect'),
		bigFile: z
			.number()
			.int()
			.describe('result files have this many bytes, all of them zero; #bigFile=1000000'),
	})
	.partial()
	.strict();

export type TaskFaults = z.infer<typeof taskFaults>;

interface FaultyAnswer {
	status?: number;
	/** Of the envelope; the status by default. */
	code?: number;
	msg?: string;
	/** In place of `msg`, as other services call it. */
	message?: string;
	garbage?: boolean;
	html403?: boolean;
	hang?: boolean;
	dropConnection?: boolean;
	/** Redirects to this URL. */
	location?: string;
}

/** A fault of API requests, whatever they ask for. */
export interface RequestFault extends FaultyAnswer {
	/** How many requests it strikes; 1 by default. */
	times?: number;
	/** The beginning of the paths that it strikes; all by default. */
	path?: string;
	delaySeconds?: number;
}

/** Reads the faults that a prompt names as `#fail`, `#slow=3`. Words that name no fault are left alone. */
export function readFaults(prompt: unknown): TaskFaults {
	const named: Record<string, unknown> = {};
	for (const [, name = '', value] of String(prompt).matchAll(/#(\w+)(?:=(\d+(?:\.\d+)?))?/g)) {
		const fault = value === undefined ? true : Number(value);
		if (taskFaults.safeParse({ [name]: fault }).success) named[name] = fault;
	}
	return taskFaults.parse(named);
}

/** The faults that wait for the next API requests. */
export function createRequestFaults() {
	const waiting: Array<RequestFault & { times: number }> = [];

	function add(fault: RequestFault) {
		waiting.push({ times: 1, ...fault });
	}

	/** Returns the first fault that matches the path, used up by one. */
	function take(path: string): RequestFault | undefined {
		const index = waiting.findIndex((fault) => path.startsWith(fault.path ?? ''));
		const fault = waiting[index];
		if (fault && --fault.times === 0) waiting.splice(index, 1);
		return fault;
	}

	return { add, take };
}

/** Sends the answer that a fault asks for, and returns false when it asks for none. */
export function answerFaultily(request: FastifyRequest, reply: FastifyReply, fault: FaultyAnswer) {
	const { status, code, msg, message } = fault;
	if (fault.dropConnection || fault.hang) {
		reply.hijack();
		if (fault.dropConnection) request.raw.socket.destroy();
	} else if (fault.location) {
		void reply.redirect(fault.location, status ?? 302);
	} else if (fault.html403) {
		void sendHtml403(reply);
	} else if (fault.garbage) {
		const garbage = 'upstream is warming up';
		void reply
			.code(status ?? 200)
			.type('application/json')
			.send(garbage);
	} else if (status ?? code ?? msg ?? message) {
		void reply.code(status ?? 200).send({
			code: code ?? status ?? 500,
			...(message ? { message } : { msg: msg ?? 'the service has an internal fault' }),
			data: null,
		});
	} else {
		return false;
	}
	return true;
}

export function sendHtml403(reply: FastifyReply) {
	return reply
		.code(403)
		.type('text/html')
		.send('<!DOCTYPE html><html><title>403 Forbidden</title><h1>Forbidden</h1></html>\n');
}
