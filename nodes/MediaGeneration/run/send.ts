import { mapConcurrent } from '../lib/mapConcurrent';
import { takeTurn } from './here';
import type { Entry } from './ledger';
import { hasError } from './onError';
import type { Run } from './open';
import { limitCreations, TaskLimit } from './overTasks';
import { wasSent, type Plan } from './plan';
import { readPace } from './request';
import { CreationSender } from './sender';


/**
 * Creates the tasks, at the rate in Options. A request is sent once, save where the service refused
 * it for its rate, or for tasks at once. What came of it is in the ledger, or is an error of the run.
 */
export async function sendAll(run: Run, plans: Plan[]): Promise<void> {
	const [first] = plans;
	if (!first) return;
	const { call, ledger } = run;
	const begunBefore = ledger.begun;
	const over = new AbortController();
	const signal = AbortSignal.any([over.signal, ...(call.signal ? [call.signal] : [])]);
	const { rate, concurrency } = readPace(first.item.option);
	const findEnd = limitCreations(run);
	const senders = new Map<string, CreationSender>();
	const findSender = ({ item }: Plan): CreationSender => {
		const { account } = item.service;
		const limits = { requests: rate, taskLimit: new TaskLimit(findEnd, signal), signal };
		const sender = senders.get(account) ?? new CreationSender(run, account, limits);
		senders.set(account, sender);
		return sender;
	};
	const send = async (plan: Plan): Promise<void> => {
		if (call.signal?.aborted || wasSent(ledger, plan)) return;
		const sent = findSender(plan).create(plan);
		const error = await sent.then(
			() => undefined,
			(reason: unknown) => reason,
		);
		// It may have waited while another item ended the run.
		if (error && error !== over.signal.reason) run.errors.set(plan.item.index, error);
	};
	const sendInTurn = async (plan: Plan): Promise<number> => {
		const { index } = plan.item;
		await takeTurn(run.turns, index, async () => await send(plan));
		return index;
	};
	const isLast = (item: number) => {
		const endsRun = call.stops && hasError(run, item);
		if (endsRun) over.abort(new Error('Another item ended the run'));
		return endsRun;
	};
	await mapConcurrent(plans, sendInTurn, { concurrency, isLast });
	// The limit counts anew for the tasks of this try: all others have ended, or were given up.
	const isCreated = ({ item, attempts }: Plan) =>
		(ledger.entries[item.index] as Entry).attempts.length > attempts;
	if (begunBefore !== undefined && plans.some(isCreated)) delete ledger.begun;
}
