import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { SLUG } from '../lib/brand';
import { isObject } from '../lib/json';

/**
 * The last segment of our resume URLs. Every node of an execution that waits has the same resume
 * URL; by its path n8n finds the webhook of the one that is meant (`waiting-webhooks.js`, 2.14.2,
 * 2.41.1). `e2e/neighbors` fails first.
 */
export const WAKE_PATH = SLUG;

/** What n8n's contexts have beside their documented API (`node-execution-context.js`). */
interface Internals {
	additionalKeys?: { $execution?: { resumeUrl?: string } };
}

/**
 * Reads the URL that wakes the execution. Its query has n8n's token, its address maybe a login. An
 * expression would return the same, but needs an isolate of n8n (2.14.2, 2.41.1). `queue/queue`
 * fails first.
 */
export function readResumeUrl(context: IExecuteFunctions | IWebhookFunctions): string {
	const { additionalKeys } = context as unknown as Internals;
	const own = additionalKeys?.$execution?.resumeUrl;
	const url = new URL(
		own ?? (context.evaluateExpression('{{ $execution.resumeUrl }}', 0) as string),
	);
	url.pathname += `/${WAKE_PATH}`;
	return url.href;
}

/** The fields of n8n's contexts that its URLs are made of (2.14.2, 2.41.1). */
interface UrlFields {
	runExecutionData?: { resumeToken?: string } | null;
	additionalData?: { webhookWaitingBaseUrl?: string };
}

/**
 * Reads what is secret in the execution's resume URL: the token, which n8n keeps with the execution,
 * and its address, which may have a login (`get-additional-keys.js`). `e2e/trigger` and
 * `e2e/reachability` fail first.
 */
export function readResumeSecrets(context: object): { token?: string; address?: string } {
	const { runExecutionData, additionalData } = context as UrlFields;
	return {
		token: runExecutionData?.resumeToken,
		address: additionalData?.webhookWaitingBaseUrl,
	};
}

/**
 * Says whether a value is the resume URL of an execution, or the expression for it. It may have
 * another host than n8n knows. `e2e/pasted` fails first.
 */
export function isResumeUrl(context: object, value: unknown): boolean {
	const { address } = readResumeSecrets(context);
	const own = address && URL.canParse(address) ? [`${new URL(address).pathname}/`] : [];
	return ['$execution.resumeUrl', ...own].some((part) => String(value).includes(part));
}

/**
 * n8n's messages for an execution that no longer waits, or waits elsewhere (`waiting-webhooks.js`,
 * 2.14.2, 2.41.1). One that is running may be about to sleep. `e2e/neighbors` and `e2e/reachability`
 * fail first.
 */
const ENDED = /^The (workflow for )?execution ".*(does not exist|has finished|matching path)/;

/** Says whether n8n, and not something before it, answers that the execution no longer waits. */
export const isEndedAnswer = (body: unknown): boolean =>
	isObject(body) && ENDED.test(String(body.message));
