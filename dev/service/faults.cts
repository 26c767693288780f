import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

const flag = (help: string) => z.boolean().describe(help);
const number = (help: string) => z.number().describe(help);
const text = (help: string) => z.string().describe(help);

/** The faults of one task, and what each does. A prompt names them, as `#fail`. */
const taskFaults = z
	.object({
		fail: flag('the task ends in state fail, with failCode 501'),
		failCode: z
			.union([z.number(), z.string()])
			.describe('the task fails with this code; #failCode=422'),
		said: text('the task succeeds, and has this failMsg all the same; #said=moderated'),
		slow: number('how many seconds the task takes; #slow=30'),
		neverEnds: flag('the task stays in state generating'),
		noCallback: flag('no callback is sent'),
		callbackTwice: flag('two callbacks are sent at the same instant'),
		status: number('creating is answered with this HTTP status and code; #status=429'),
		code: number('creating is answered with HTTP 200 and this code, and makes no task; #code=500'),
		message: text('with status or code: the msg of that answer'),
		delay: number('how many seconds the answer to creating takes; #delay=70'),
		garbage: flag('creating is answered with text that is not JSON'),
		hang: flag('creating is never answered'),
		lost: flag('the task is made, and the answer to its creation gets lost'),
		created: flag('with status, code, garbage or hang: the task is made all the same, and runs'),
		accepted: number('the task is made, and its ID answered with this HTTP status; #accepted=202'),
		detailsFail: number('how many requests for details are answered with HTTP 500; #detailsFail=2'),
		recordCode: number('details have this code beside the record; #recordCode=505'),
		hidden: number('for how many seconds the details do not know the task; #hidden=5'),
		hiddenAs: z
			.enum(['notFound', 'null'])
			.describe('with hidden: details are HTTP 404, or have no data; #hiddenAs=null'),
		echo: number('details repeat an input of this many MB; #echo=3'),
		files: number('how many result files there are; #files=3'),
		fileSize: number(
			'result files have this many MB: "task ID/name\\n" again and again; #fileSize=20',
		),
		links: z
			.enum(['blank', 'dead', 'none', 'spaced'])
			.describe(
				'the links to results are blank, of a host that does not answer, not there, or have a blank in them; #links=blank',
			),
		fileSlow: number('how many seconds a result file takes to arrive; #fileSlow=5'),
		fileStalls: flag('result files stop after their first byte'),
		fileFails: number('how many requests for each file are answered with fileStatus; #fileFails=2'),
		fileStatus: number('an HTTP status for fileFails, in place of 404; #fileStatus=503'),
		fileDrops: number('how many requests for each file break in the middle of it; #fileDrops=2'),
		fileEmpty: flag('result files have 0 bytes'),
		fileType: text('the Content-Type of result files; blank: none'),
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
	/** Of the envelope too. */
	message?: string;
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
	const { status, code = status, message = 'the service has an internal fault' } = fault;
	if (fault.dropConnection) request.raw.socket.destroy();
	if (fault.dropConnection || fault.hang) return reply.hijack();
	if (fault.location) return reply.redirect(fault.location);
	reply.code(status ?? 200);
	if (fault.garbage) return reply.type('application/json').send('upstream is warming up');
	if (code === undefined) return undefined;
	return reply.send({ code, msg: message, data: null });
}
