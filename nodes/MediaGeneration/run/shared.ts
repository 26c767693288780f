import type { UnknownOutcome } from '../api/failure';
import type { Call } from '../host/call';
import { CREDENTIAL } from '../lib/brand';
import { digest } from '../lib/json';
import { Memory } from '../lib/memory';

/** What all runs of a node share in one execution. */
export interface Shared {
	/** The number of tasks that it has sent. */
	count: number;
	/** The calls of an agent whose outcome is unknown, by a digest of what its model asked for. */
	unknownCalls: Record<string, UnknownOutcome>;
}

/** Calls without an execution are one run for so long, in milliseconds. */
const SHARED_FOR = 3_600_000;
const sharedByTool = new Memory<Shared & { until: number }>('tools');

/** Without an execution, this process keeps what the calls of a tool share, by its parameters. */
export function openShared({ context, kept }: Call): Shared {
	const begun = { count: 0, unknownCalls: {} };
	if (kept) return begun;
	const { parameters, credentials } = context.getNode();
	const tool = digest([parameters, credentials?.[CREDENTIAL]]);
	const known = sharedByTool.get(tool);
	if (known && known.until > Date.now()) return known;
	const shared = { ...begun, until: Date.now() + SHARED_FOR };
	sharedByTool.set(tool, shared);
	return shared;
}

/** Finds why it's unknown whether a task was created for what an agent asks for again. */
export const findUnknownCall = (
	call: Call,
	{ unknownCalls }: Shared,
	item: number,
): UnknownOutcome | undefined => (call.isTool ? unknownCalls[digestCall(call, item)] : undefined);

export function noteUnknownCall(
	call: Call,
	{ unknownCalls }: Shared,
	item: number,
	unknown: UnknownOutcome,
): void {
	if (call.isTool) unknownCalls[digestCall(call, item)] = unknown;
}

/** Digests what an agent's model asked for. n8n numbers its calls; the number is left out. */
const digestCall = ({ context }: Call, item: number): string =>
	digest({ ...context.getInputData()[item]?.json, toolCallId: undefined });
