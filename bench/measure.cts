import { median } from 'simple-statistics';
import {
	buildCredentialData,
	CREDENTIAL_TYPE,
	TOKEN,
	WEBHOOK_SECRET,
} from '../dev/fixtures/pair.cts';
import type { Log } from '../dev/log.cts';
import type { Credential, N8n } from '../dev/n8n/n8n.cts';
import type { Workflow } from '../dev/n8n/workflow.cts';
import { startService, type Service } from '../dev/service/index.cts';

/** Measures something, and returns the lines to print. */
export type Bench = (log: Log) => Promise<string[]>;

/**
 * As it comes, n8n sets up an isolate for expressions before it calls a webhook, for each credential that a webhook reads,
 * and for each execution, whether or not there is an expression. A lazy n8n sets them up when they are needed.
 */
const SETTINGS: Record<string, Record<string, string>> = {
	'n8n as it comes': {},
	'lazy isolates': { N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' },
};

/** Measures in n8n as it comes and in a lazy one. */
export async function measureSettings(measure: (env: Record<string, string>) => Promise<string[]>) {
	const lines: string[] = [];
	for (const [setting, env] of Object.entries(SETTINGS))
		lines.push(`${setting}:`, ...(await measure(env)));
	return lines;
}

/**
 * Measures ways of doing the same in interleaved rounds, in their order and then in the opposite one, so that a machine that is
 * slower for a moment is so for all of them. This many rounds to warm up come before those that count.
 * @returns the results of each way, one for each round
 */
export async function interleave<Name extends string, Way, Result>(
	ways: Record<Name, Way>,
	{ rounds, warmUp = 1, log }: { rounds: number; warmUp?: number; log: Log },
	measure: (way: Way) => Promise<Result>,
) {
	const names = Object.keys(ways) as Name[];
	const results = {} as Record<Name, Result[]>;
	for (const name of names) results[name] = [];
	for (let round = -warmUp; round < rounds; round++) {
		log(round < 0 ? 'warming up' : `round ${round + 1} of ${rounds}`);
		for (const name of names) {
			const result = await measure(ways[name]);
			if (round >= 0) results[name].push(result);
		}
		names.reverse();
	}
	return results;
}

/** Describes the median of ours as a ratio to that of theirs, with both behind it. */
export function compare(name: string, ours: number[], theirs: number[], unit: string) {
	const [own, other] = [median(ours), median(theirs)];
	const figures = `${own.toFixed(1)} ${unit}, beside ${other.toFixed(1)} ${unit}`;
	return `${name}: ${(own / other).toPrecision(3)}\n  ${figures}; medians of ${ours.length}`;
}

/** Starts an emulator with credits for any number of tasks, which end at once, until the end of an `await using` block. */
export const openService = async () => await startService({ credits: 1e9, taskSeconds: 0 });

/**
 * Saves a workflow with the credentials that its nodes need to speak to this emulator.
 * @returns its id
 */
export async function importFor(n8n: N8n, service: Service, workflow: Workflow) {
	const credentials: Record<string, Credential> = {};
	for (const [type, data] of Object.entries({
		[CREDENTIAL_TYPE]: buildCredentialData(service),
		crypto: { hmacSecret: WEBHOOK_SECRET },
		httpHeaderAuth: { name: 'Authorization', value: `Bearer ${TOKEN}` },
	}))
		credentials[type] = await n8n.createCredential({ name: 'Bench', type, data });
	return (await n8n.importWorkflow(workflow, { credentials })).id;
}
