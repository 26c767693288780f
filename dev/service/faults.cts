import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

const flag = (help: string) => z.boolean().describe(help);
const number = (help: string) => z.number().describe(help);

/** The faults of one task, and what each does. A prompt names them, as `#fail`. */
const taskFaults = z
	.object({
		fail: flag('the task ends in state fail, with failCode 501'),
		slow: number('how many seconds the task takes; #slow=30'),
		neverEnds: flag('the task stays in state generating'),
		noCallback: flag('no callback is sent'),
		callbackTwice: flag('two callbacks are sent at the same instant'),
		status: number('creating is answered with this HTTP status and code; #status=429'),
		garbage: flag('creating is answered with text that is not JSON'),
		hang: flag('creating is never answered'),
		lost: flag('the task is made, and the answer to its creation gets lost'),
		created: flag('with status, garbage or hang: the task is made all the same, and runs'),
		accepted: number('the task is made, and its ID answered with this HTTP status; #accepted=202'),
		detailsFail: number('how many requests for details are answered with HTTP 500; #detailsFail=2'),
		detailsHang: flag('requests for details are never answered'),
		files: number('how many result files there are; #files=3'),
		fileSize: number(
			'result files have this many MB: "task ID/name\\n" again and again; #fileSize=20',
		),
		links: z
			.enum(['blank', 'dead'])
			.describe('the links to results are blank, or of a host that does not answer; #links=blank'),
		fileSlow: number('how many seconds a result file takes to arrive; #fileSlow=5'),
		fileStalls: flag('result files stop after their first byte'),
		fileRefused: flag('result files are answered with HTTP 403, and their links are not renewed'),
	})
	.partial()
	.strict();

/** Lists the faults that a prompt can name, and what each does. */
export const listFaults = () =>
	Object.entries(taskFaults.shape).map(([name, { description = '' }]) => ({ name, description }));

export type TaskFaults = z.infer<typeof taskFaults>;

interface FaultyAnswer {
	status?: number;
	/** Of the envelope; the status by default. */
	code?: number;
	garbage?: boolean;
	hang?: boolean;
	dropConnection?: boolean;
	/** Redirects to this URL. */
	location?: string;
}

/** A fault of one API request, whatever it asks for. */
export interface RequestFault extends FaultyAnswer {
	/** The beginning of the paths that it strikes; all by default. */
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
	const { status, code = status } = fault;
	if (fault.dropConnection) request.raw.socket.destroy();
	if (fault.dropConnection || fault.hang) return reply.hijack();
	if (fault.location) return reply.redirect(fault.location);
	reply.code(status ?? 200);
	if (fault.garbage) return reply.type('application/json').send('upstream is warming up');
	if (code === undefined) return undefined;
	return reply.send({ code, msg: 'the service has an internal fault', data: null });
}
