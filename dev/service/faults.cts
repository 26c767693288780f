import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

const flag = z.boolean();
const number = z.number();

/** The faults of one task, and what each does. A prompt names them, as `#fail` or `#slow=30`. */
const taskFaults = z
	.object({
		/** The task ends in state fail, with failCode 501. */
		fail: flag,
		/** The task fails with this code. */
		failCode: z.union([z.number(), z.string()]),
		/** The task succeeds, and has this failMsg all the same. */
		said: z.string(),
		/** How many seconds the task takes. */
		slow: number,
		/** The task stays in state generating. */
		neverEnds: flag,
		/** No callback is sent. */
		noCallback: flag,
		/** Two callbacks are sent at the same instant. */
		callbackTwice: flag,
		/** Creating is answered with this HTTP status and code. */
		status: number,
		/** Creating is answered with HTTP 200 and this code, and makes no task. */
		code: number,
		/** The msg of the answer that status or code asks for. */
		message: z.string(),
		/** How many seconds the answer to creating takes. */
		delay: number,
		/** Creating is answered with text that is not JSON. */
		garbage: flag,
		/** Creating is never answered. */
		hang: flag,
		/** The task is made, and the answer to its creation gets lost. */
		lost: flag,
		/** In spite of status, code, garbage or hang, the task is made and runs. */
		created: flag,
		/** The task is made, and the answer with its ID has this HTTP status. */
		accepted: number,
		/** How many requests for details are answered with HTTP 500. */
		detailsFail: number,
		/** How many result files there are. */
		files: number,
		/** Result files have this many MB, in which the line "task ID/name" is repeated. */
		fileSize: number,
		/** How many seconds a result file takes to arrive. */
		fileSlow: number,
		/** The Content-Type of result files. A blank one is left out. */
		fileType: z.string(),
		/** Result files are answered with HTTP 403, and their links are not renewed. */
		fileRejected: flag,
	})
	.partial()
	.strict();

export type TaskFaults = z.infer<typeof taskFaults>;

interface FaultyAnswer {
	status?: number;
	/** The code in the answer's envelope; the status by default. */
	code?: number;
	/** The msg in the answer's envelope. */
	message?: string;
	garbage?: boolean;
	hang?: boolean;
	dropConnection?: boolean;
	/** Redirects to this URL. */
	location?: string;
}

/** A fault of one API request, whatever it asks for. */
export interface RequestFault extends FaultyAnswer {
	/** The beginning of the paths that the fault is for; all by default. */
	path?: string;
	delaySeconds?: number;
}

/** Reads the faults that a prompt names as `#fail`, `#slow=3`, `#links=dead`. Words that name no fault are left alone. */
export function readFaults(prompt: unknown) {
	const faults: TaskFaults = {};
	for (const [, name = '', value] of String(prompt).matchAll(/#(\w+)(?:=(\d+(?:\.\d+)?|\w+))?/g)) {
		const number = Number(value);
		const fault = value === undefined ? true : Number.isNaN(number) ? value : number;
		Object.assign(faults, taskFaults.safeParse({ [name]: fault }).data);
	}
	return faults;
}

/** Sends the answer that a fault asks for, and returns undefined when it asks for none. */
export function answerFaultily(request: FastifyRequest, reply: FastifyReply, fault: FaultyAnswer) {
	const { status, code = status, message = 'the service has an internal fault' } = fault;
	if (fault.dropConnection) request.raw.socket.destroy();
	if (fault.dropConnection || fault.hang) return reply.hijack();
	if (fault.location) return reply.redirect(fault.location);
	reply.code(status ?? 200);
	if (fault.garbage) return reply.type('application/json').send('upstream is warming up');
	if (code === undefined) return undefined;
	return reply.send({ code, msg: message, data: null });
}
