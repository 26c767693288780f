import { mapConcurrent } from '../lib/mapConcurrent';
import { joinSignals } from '../lib/timers';
import { takeTurn } from './here';
import { hasError } from './onError';
import type { Run } from './run';
import { limitCreations, TaskLimit } from './overTasks';
import { wasSent, type Plan } from './plan';
import { readPace } from './creationOptions';
import { CreationSender } from './sender';

/**
 * Creates the tasks, at the rate in Options. A request is sent once, save where the service refused
 * it for its rate, or for tasks at once. What came of it is in the ledger, or is an error of the run.
 * @returns how many were sent by this call, and maybe made a task
 */
export async function sendAll(run: Run, plans: Plan[]): Promise<number> {
	const [first] = plans;
	if (!first) return 0;
	const { call, ledger } = run;
	const begunBefore = ledger.begun;
	const over = new AbortController();
	const { perTenSeconds, atOnce } = readPace(first.item.option);
	const signal = joinSignals(over.signal, call.signal);
	const findSender = openSenders(run, { requests: perTenSeconds, signal });
	let sent = 0;
	const send = async (plan: Plan): Promise<Plan> => {
		const { index, service } = plan.item;
		await takeTurn(run.turns, index, async () => {
			if (call.signal?.aborted || wasSent(ledger, plan)) return;
			const error = await findSender(service.account).create(plan);
			if (wasSent(ledger, plan)) sent++;
			// It may have waited while another item ended the run.
			if (error && error !== over.signal.reason) run.errors.set(index, error);
		});
		return plan;
	};
	const isLast = ({ item }: Plan) => {
		const endsRun = call.stops && hasError(run, item.index);
		if (endsRun) over.abort(new Error('Another item ended the run'));
		return endsRun;
	};
	await mapConcurrent(plans, send, { concurrency: atOnce, isLast });
	// The limit counts anew for the tasks of this try.
	const isNew = plans.some((plan) => wasSent(ledger, plan));
	if (begunBefore !== undefined && isNew) delete ledger.begun;
	return sent;
}

/** Makes a function that finds the sender of an account. */
function openSenders(run: Run, limits: { requests: number; signal: AbortSignal }) {
	const findEnd = limitCreations(run);
	const senders = new Map<string, CreationSender>();
	return (account: string): CreationSender => {
		const known = senders.get(account);
		if (known) return known;
		const taskLimit = new TaskLimit(findEnd, limits.signal);
		const sender = new CreationSender(run, account, { ...limits, taskLimit });
		senders.set(account, sender);
		return sender;
	};
}
