import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Context } from './index.cts';
import { hasEnded } from './results.cts';

const answer = z.object({
	status: z.number(),
	/** The task ID came as a number. */
	hasNumericId: z.boolean().default(false),
	body: z.unknown(),
});

type Answer = z.infer<typeof answer>;

/** The answers that are replayed: what was asked, and the code of the emulator's own answer that each takes the place of. */
const CASES = [
	{ name: 'credits', path: /^\/api\/v1\/chat\/credit/, code: 200 },
	{ name: 'wrongToken', path: /^\/api\/v1\/chat\/credit/, code: 401 },
	{ name: 'create', path: /^\/api\/v1\/jobs\/createTask/, code: 200 },
	{ name: 'refusedCreation', path: /^\/api\/v1\/jobs\/createTask/, code: 401 },
	{ name: 'unknownTask', path: /^\/api\/v1\/jobs\/recordInfo/, code: 422 },
	{ name: 'streamUpload', path: /^\/api\/file-stream-upload/, code: 200 },
	{ name: 'urlUpload', path: /^\/api\/file-url-upload/, code: 200 },
	{ name: 'models', path: /^\/api\/v1\/models(\?|$)/, code: 200 },
	{ name: 'unknownModel', path: /^\/api\/v1\/models\/.+\/schema/, code: 404 },
	{ name: 'downloadUrl', path: /^\/api\/v1\/common\/download-url/, code: 200 },
];

/**
 * Reads the answers that `npm run probe` wrote into a folder; without one there are none.
 * @throws {Error} when there is no such folder
 */
export function readRecorded(folder?: string) {
	if (folder && !existsSync(folder)) throw new Error(`There is no folder "${folder}"`);
	const read = <T extends z.ZodTypeAny>(name: string, schema: T): z.output<T> | undefined => {
		const path = join(String(folder), `${name}.json`);
		if (!folder || !existsSync(path)) return undefined;
		return schema.parse(JSON.parse(readFileSync(path, 'utf8'))) as z.output<T>;
	};
	const ofModel = answer.extend({ request: z.object({ model: z.string() }) });
	const creation = read('create', ofModel);
	return {
		/** The model of the recorded task. */
		model: creation?.request.model,
		hasNumericIds: creation?.hasNumericId,
		/** The schema of one model. */
		modelSchema: read('modelSchema', ofModel),
		/** Of one task, in the order of its states. */
		details: read('details', answer.array()) ?? [],
		answers: new Map(CASES.map(({ name }) => [name, read(name, answer)])),
	};
}

/** Gives recorded answers in place of the emulator's own, with its own task IDs and links in them. */
export function createReplay(context: Context, recorded: ReturnType<typeof readRecorded>) {
	const { settings, tasks } = context;

	/** Finds the recorded details of a task. The last ones are those of its end. */
	function findDetails(taskId: string) {
		const record = tasks.get(taskId);
		const last = recorded.details.at(-1);
		if (!record || record.faults.fail) return undefined;
		return hasEnded(record) ? last : recorded.details.find((one) => one !== last);
	}

	function find(url: string, code: number | undefined, taskId: string): Answer | undefined {
		const path = url.replace(/\?.*/, '');
		const { modelSchema } = recorded;
		if (path === `/api/v1/models/${modelSchema?.request.model}/schema` && code !== 401)
			return modelSchema;
		if (path === '/api/v1/jobs/recordInfo' && code === 200) return findDetails(taskId);
		const found = CASES.find((one) => one.code === code && one.path.test(path));
		return found && recorded.answers.get(found.name);
	}

	return (request: FastifyRequest, reply: FastifyReply, payload: string): string => {
		if (!settings.recorded || !payload.startsWith('{')) return payload;
		const quoted = payload.replace(/("taskId":)(\d+)/, '$1"$2"');
		const own = JSON.parse(quoted) as { code?: number; data?: unknown };
		const data = (own.data ?? {}) as { taskId?: string; downloadUrl?: string } | string;
		const { taskId: asked } = request.query as { taskId?: string };
		const { taskId = asked ?? '', downloadUrl = '' } = typeof data === 'string' ? {} : data;
		const found = find(request.url, own.code, taskId);
		if (!found) return payload;
		reply.code(found.status);
		if (typeof found.body === 'string') return found.body;
		const values = {
			taskId,
			link: typeof data === 'string' ? data : downloadUrl,
			callBackUrl: tasks.get(taskId)?.callBackUrl ?? '',
			resultsUrl: context.resultsUrl,
		};
		const template = JSON.stringify(found.body);
		return Object.entries(values).reduce(
			(text, [name, value]) => text.replaceAll(`{${name}}`, value),
			found.hasNumericId ? template.replaceAll(/("taskId":)"(\{taskId\})"/g, '$1$2') : template,
		);
	};
}
