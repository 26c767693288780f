import type { INodeExecutionData } from 'n8n-workflow';
import type { Call } from '../host/call';
import { checkBudget } from './budget';
import { findLimit, stateOf } from './ledger';
import { endsRun, listWithoutError } from './onError';
import { inRun, openSettings } from './open';
import { adoptEarlier, planRun, type Job, type Plan } from './plan';
import type { Run } from './run';
import { sendAll } from './send';
import { show } from './show';

/**
 * Runs Generate, or Start Without Waiting, in one call by n8n. n8n may begin anew after any line, for
 * a try, a retry or a wake: each step takes from the ledger what there is, and notes what came of it.
 */
export async function generate(call: Call, job: Job): Promise<INodeExecutionData[]> {
	return await inRun(call, async (run) => {
		const { ledger, isWoken } = run;
		try {
			if (!isWoken) await create(run, job);
			if (ledger.settings && !endsRun(run)) {
				if (fallsAsleep(run)) return await (await import('./sleep')).fallAsleep(run);
				await (await import('./watch')).watch(run);
			}
		} catch (error) {
			run.refusal ??= { error };
		}
		return show(run);
	});
}

/** Creates the tasks that are missing. */
async function create(run: Run, job: Job): Promise<void> {
	if (run.refusal) return;
	const { ledger } = run;
	const planned = await planRun(run, job);
	if (endsRun(run)) return;
	const [first] = planned;
	if (first) openSettings(run, () => job.readSettings?.(first.item));
	const plans = planned.filter((plan) => !adoptEarlier(run, plan));
	if (ledger.settings) await decide(run, plans);
	const allowed = await checkBudget(run, plans);
	const sent = await sendAll(run, allowed);
	// What was not sent is given back.
	ledger.shared.count -= allowed.length - sent;
}

/** Decides how the run waits. Where it sleeps, the service is to call its resume URL. */
async function decide(run: Run, plans: Plan[]): Promise<void> {
	const { decideWait } = await import('./decide');
	run.decision = await decideWait(run, plans);
	for (const { request } of plans) request.callBackUrl = run.decision.resumeUrl;
}

/** Says whether the execution sleeps: it may, and there is something to wait for. */
function fallsAsleep(run: Run): boolean {
	const { decision, ledger } = run;
	if (decision.resumeUrl === undefined || Date.now() >= findLimit(ledger)) return false;
	return listWithoutError(run).some(({ entry }) => stateOf(entry) === 'open');
}
