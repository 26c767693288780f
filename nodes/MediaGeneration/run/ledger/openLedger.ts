import { type IDataObject, UserError } from 'n8n-workflow';
import { type Call, readRunIndex } from '../../host/call';
import { readResumeSecrets } from '../../host/resumeUrl';
import { CREDENTIAL } from '../../lib/brand';
import { digest } from '../../lib/json';
import { limitConcurrency } from '../../lib/mapConcurrent';
import { Memory } from '../../lib/memory';
import {
	addEntries,
	beginLedger,
	keepSettings,
	hideResults,
	mergeLedgers,
	unhideResults,
} from './changes';
import { type Entry, type Ledger, type OpenedCall, type Shared, statusOf, VERSION } from './ledger';

/** The key in the node's context. */
const LEDGER_KEY = 'run';

/**
 * Opens the ledger of a call's run: the stored one, or a new one, which knows the ledger of the execution
 * that this one retries. n8n stores the ledger with the execution, as it is when the call ends.
 * @throws {UserError} when another version of the package has stored it
 */
export function openLedger(call: Call): Ledger {
	// If n8n mixes up two tool calls, the context it hands us is the other call's.
	const context = call.isMixedUp ? undefined : call.nodeContext;
	const ledger = continueLedger(readLedger(context), call);
	addEntries(ledger, call.context.getInputData().length);
	if (context) context[LEDGER_KEY] = ledger as unknown as IDataObject;
	joinRun({ call, ledger });
	return ledger;
}

/**
 * Reads the ledger in a node's context; undefined where there is none.
 * @throws {UserError} when another version of the package has stored it
 */
export function readLedger(context: IDataObject | undefined): Ledger | undefined {
	const ledger = context?.[LEDGER_KEY] as Ledger | undefined;
	if (!ledger || ledger.version === VERSION) return ledger;
	throw new UserError(
		`Nothing was created: another version of this package has stored what the execution sent (in form ${String(ledger.version)})`,
		{
			description:
				"Retry the execution with the version that it began with, or a newer one. Before you start it anew, look at your account's recent tasks with the service.",
		},
	);
}

function continueLedger(stored: Ledger | undefined, call: Call): Ledger {
	const { executionId } = call;
	const runIndex = readRunIndex(call.context);
	const fresh = beginLedger({ executionId, runIndex });
	const { ledger: here, underway } = findRun({ call, ledger: fresh }) ?? {};
	// Calls of an MCP server all have a blank ID, so they count as one execution.
	const isSameExecution = stored?.executionId === executionId;
	// The same run, as n8n has stored it.
	if (isSameExecution && stored.runIndex === runIndex) {
		// In the same process, n8n may hand us the ledger itself: then there is nothing to merge.
		if (here && here.entries !== stored.entries) mergeLedgers(stored, here, underway !== 0);
		return stored;
	}
	const isRetry = !isSameExecution && stored?.runIndex === runIndex;
	const earlier = isRetry ? listEarlier(stored) : undefined;
	// The same run, known to this process alone. A run that n8n has not stored can't have slept. Its wait
	// begins anew, because the limit may have passed before n8n called again.
	if (here) return { ...here, earlier, waitBeganAt: undefined, sleep: undefined };
	// The next run in this execution.
	if (isSameExecution) {
		const { lastSleepNumber, shared, unknownCounts } = stored;
		return { ...fresh, lastSleepNumber, shared, unknownCounts };
	}
	// The first run of an execution, which may retry another one.
	return { ...fresh, shared: openShared(call, fresh.shared), earlier };
}

/** Lists the entries of the execution that this one retries, or of an execution before it. */
function listEarlier({ entries, earlier = [] }: Ledger): Entry[] {
	const length = Math.max(entries.length, earlier.length);
	return Array.from({ length }, (_, item) => {
		const entry = entries[item] ?? { attempts: [] };
		return statusOf(entry) === 'new' ? (earlier[item] ?? entry) : entry;
	});
}

const sharedByTool = new Memory<Shared>('tools');

/** Without an execution, this process remembers what the calls of a tool share, by its parameters. */
function openShared({ context, nodeContext }: Call, fresh: Shared): Shared {
	if (nodeContext) return fresh;
	const { parameters, credentials } = context.getNode();
	const tool = digest([parameters, credentials?.[CREDENTIAL]]);
	const known = sharedByTool.get(tool);
	if (!known) sharedByTool.set(tool, fresh);
	return known ?? fresh;
}

/** A run of this process. */
interface RunHere {
	/** Of the call that joined last. The calls' ledgers share entries and counts, but not settings. */
	ledger: Ledger;
	/** How many calls are under way. Their ledgers share one list of entries. */
	underway: number;
	/** Not stored, so that no call waits for a process that has crashed. */
	lock: ReturnType<typeof limitConcurrency>;
}

/**
 * The runs of this process. Where an execution waits long for a slot of the concurrency limit, n8n may
 * run it again with older data (`wait-tracker.js`, 2.41.1). The tasks created since exist all the same.
 */
const runsHere = new Memory<RunHere>('runs', ({ underway }) => underway > 0);

function joinRun({ call, ledger }: OpenedCall): void {
	const key = identifyRun({ call, ledger });
	if (!key) return;
	const { underway, lock } = runsHere.get(key) ?? { underway: 0, lock: limitConcurrency(1) };
	runsHere.set(key, { ledger, underway: underway + 1, lock }, ledger.entries.length);
}

const findRun = (opened: OpenedCall): RunHere | undefined => runsHere.get(identifyRun(opened));

/** Identifies a run by n8n's secret of the execution; blank without one, and for an agent's calls. */
function identifyRun({ call: { context, isTool }, ledger }: OpenedCall): string {
	const { token } = readResumeSecrets(context);
	if (!token || isTool) return '';
	const { executionId, runIndex } = ledger;
	return digest([token, executionId, context.getNode().name, runIndex]);
}

/**
 * Does the work of a call that creates tasks. The calls of a run do the work one after the other. A
 * call that finds all tasks created reads no settings: it takes the settings of the call before it.
 */
export async function withLock(opened: OpenedCall, work: () => Promise<void>): Promise<void> {
	const here = findRun(opened);
	if (!here) return await work();
	await here.lock(async () => {
		keepSettings(opened.ledger, () => findRun(opened)?.ledger.settings);
		await work();
		// Another call may have joined since, so the run is found anew. Later calls read the settings in the
		// ledger of the call that joined last.
		keepSettings(findRun(opened)?.ledger ?? opened.ledger, () => opened.ledger.settings);
	});
}

/**
 * Leaves the run of a call. After the last call, this process remembers a copy without results: they may
 * have megabytes, and a later call finds them stored, or asks the service again.
 */
export function leaveRun(opened: OpenedCall): void {
	const here = findRun(opened);
	if (!here) return;
	here.underway--;
	if (here.underway > 0) return;
	const { ledger } = opened;
	// `structuredClone` copies only what is enumerable, so the copies lack what is hidden.
	hideResults(ledger);
	// A late answer may still settle an unknown outcome, so its entry stays shared.
	const entries = ledger.entries.map((entry) => (entry.unknown ? entry : structuredClone(entry)));
	here.ledger = { ...here.ledger, entries };
	// A run that sleeps must be stored with its results.
	if (ledger.sleep) unhideResults(ledger);
}
