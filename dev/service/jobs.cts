import type { FastifyInstance } from 'fastify';
import { TASK_PATH } from './catalogue.cts';
import { describe, dialects } from './dialects.cts';
import { answerFaultily, readFaults, type TaskFaults } from './faults.cts';
import type { Context } from './index.cts';
import { readCreation } from './models.cts';
import type { Lifecycle } from './tasks.cts';
import { Rejection, wrapData } from './validation.cts';

const DETAILS_PATH = '/api/v1/jobs/recordInfo';

/** Adds the endpoints of creations and details. */
export function registerTasks(app: FastifyInstance, context: Context, lifecycle: Lifecycle) {
	registerCreation(app, context, lifecycle);
	registerDetails(app, context);
}

/** Returns a function that admits and counts a creation. It throws a rejection 429 for a creation too many. */
function createAdmission({ settings, tasks }: Context) {
	const times: number[] = [];
	return () => {
		const now = performance.now();
		while (times[0] !== undefined && times[0] <= now - 10_000) times.shift();
		if (times.length >= settings.creationsPer10Seconds)
			throw new Rejection(429, 'Call frequency is too high. Please try again later.');
		const unfinished = [...tasks.values()].filter(({ completeTime }) => completeTime === null);
		if (unfinished.length >= settings.tasksAtOnce)
			throw new Rejection(429, settings.tasksAtOnceText);
		times.push(now);
	};
}

function registerCreation(app: FastifyInstance, context: Context, lifecycle: Lifecycle) {
	const { settings, tasks, wait } = context;
	const { creditsRejection, describeCreation } = dialects[settings.dialect];
	const admitCreation = createAdmission(context);

	app.post(TASK_PATH, async (request, reply) => {
		const {
			creation,
			result,
			cost = settings.costPerTask,
		} = readCreation(request.body, settings.dialect);
		admitCreation();
		if (settings.credits < cost) throw creditsRejection;
		const faults: TaskFaults = {
			...readFaults(creation.input.prompt),
			...settings.faultsFor?.({ ...creation, index: tasks.size }),
		};
		const { status, code, garbage, hang, message, lost: dropConnection, accepted = 200 } = faults;
		const isFaulty = Boolean(status || code || garbage || hang);
		const made = { ...creation, result, creditsConsumed: cost, faults };
		const task = !isFaulty || faults.created ? lifecycle.create(made) : undefined;
		const outcome = `${task?.taskId ?? 'no task'}${isFaulty ? ', faulty' : ''}`;
		settings.log?.(`create ${creation.model}: ${outcome}`);
		if (task) settings.credits -= cost;

		if (faults.delay) await wait(faults.delay);
		const fault = { status, code, message, garbage, hang, dropConnection };
		const faulty = answerFaultily(request, reply, fault);
		if (faulty) return faulty;
		return reply.code(accepted).send(wrapData(describeCreation(String(task?.taskId))));
	});
}

function registerDetails(app: FastifyInstance, context: Context) {
	const { settings, tasks } = context;
	const { describeTask } = dialects[settings.dialect];

	app.get<{ Querystring: { taskId?: string } }>(DETAILS_PATH, async (request, reply) => {
		const record = tasks.get(request.query.taskId ?? '');
		if (record) record.detailsRequests++;
		if (!record) throw new Rejection(422, 'recordInfo is null');
		const { detailsFail = 0 } = record.faults;
		const status = record.detailsRequests <= detailsFail ? 500 : undefined;
		const faulty = answerFaultily(request, reply, { status });
		if (faulty) return faulty;
		return wrapData(describeTask(describe(context, record)));
	});
}
