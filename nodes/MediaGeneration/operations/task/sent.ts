import { createHash } from 'crypto';
import type { IContextObject, IExecuteFunctions } from 'n8n-workflow';
import type { ModelRequest } from '../../models/model';

/** What became of a request that this run of the node sent: the task's id, or a sending whose outcome is unknown. */
type Sent = { taskId: string; executionId: string } | { unknown: string; executionId: string };

/**
 * What one run of the node has sent. n8n keeps it with the execution, so that it outlives a run that n8n repeats: with
 * Retry On Fail n8n starts a node again from its first item, and tasks that exist already must not be paid for twice.
 */
export class SentRequests {
	private readonly sent: Record<string, Sent>;
	private readonly executionId: string;
	private readonly kept: IContextObject;

	constructor(context: IExecuteFunctions) {
		const kept = (this.kept = context.getContext('node'));
		const run = context.getWorkflowDataProxy(0).$runIndex;
		const { requests } = (kept.sent?.run === run ? kept.sent : { requests: {} }) as {
			requests: Record<string, Sent>;
		};
		kept.sent = { run, requests };
		this.sent = requests;
		this.executionId = context.getExecutionId();
	}

	/** What an earlier try sent for an item, if it was the same request. */
	earlier(item: number, request: ModelRequest): { taskId: string; elsewhere: boolean } | undefined {
		const sent = this.sent[keyOf(item, request)];
		return sent && 'taskId' in sent
			? { taskId: sent.taskId, elsewhere: sent.executionId !== this.executionId }
			: undefined;
	}

	/** Why the outcome of an earlier try in this execution is unknown, if it is. */
	unknown(item: number, request: ModelRequest): string | undefined {
		const sent = this.sent[keyOf(item, request)];
		return sent && 'unknown' in sent && sent.executionId === this.executionId
			? sent.unknown
			: undefined;
	}

	created(item: number, request: ModelRequest, taskId: string): void {
		this.sent[keyOf(item, request)] = { taskId, executionId: this.executionId };
	}

	/** Forgets a run that n8n has no reason to repeat. */
	forget(): void {
		delete this.kept.sent;
	}

	lost(item: number, request: ModelRequest, reason: string): void {
		this.sent[keyOf(item, request)] = { unknown: reason, executionId: this.executionId };
	}
}

const keyOf = (item: number, { model, input }: ModelRequest): string =>
	`${item}:${createHash('sha256')
		.update(JSON.stringify([model, input]))
		.digest('base64')}`;
