import type { IWebhookFunctions } from 'n8n-workflow';
import { TaskService } from '../../../nodes/MediaGeneration/api/client';
import type { RequestContext } from '../../../nodes/MediaGeneration/api/exchange';
import { receiveCallback } from '../../../nodes/MediaGeneration/trigger/receive';
import { buildDetails, sendCallback } from '../n8n';

const SIGNATURE = 'resume-token-of-n8n';
const BASE = 'https://user:pass%20word@n8n.example/webhook-waiting';
const SAID = `sent to ${BASE}/7/media-generation?signature=${SIGNATURE} with the password "pass word"`;

/** What n8n keeps in the context of a run and of a webhook. */
const fields = {
	runExecutionData: { resumeToken: SIGNATURE },
	additionalData: { webhookWaitingBaseUrl: BASE },
};

const HIDDEN =
	'sent to https://user:***@n8n.example/webhook-waiting/7/media-generation?signature=*** with the password "***"';

it('a run that has sent no URL of its own hides the secrets of its resume URL too', async () => {
	const context = {
		...fields,
		helpers: {
			httpRequestWithAuthentication: async () =>
				await Promise.resolve(buildDetails('t', 'fail', { failMsg: SAID })),
		},
	} as unknown as RequestContext;
	const credentials = { baseUrl: 'https://api.example', accessToken: 'a secret token' };
	const task = await new TaskService(context, credentials).getTask('t', { timeoutSeconds: 1 });
	expect(task.failMessage).toBe(HIDDEN);
});

it('the trigger hides the password of WEBHOOK_URL in the details and the body of a callback', async () => {
	const { output } = await sendCallback(receiveCallback, {
		taskId: 't',
		body: { data: { task_id: 't' }, msg: SAID },
		readDetails: async () =>
			await Promise.resolve(buildDetails('t', 'success', { resultJson: { log: SAID } })),
		more: {
			...fields,
			getNode: () => ({ id: 'node', name: 'Trigger' }),
			getWorkflowStaticData: () => ({}),
			getNodeParameter: (name: string, fallback: unknown) =>
				name === 'events' ? ['taskCompleted'] : fallback,
		} as Partial<Record<keyof IWebhookFunctions, unknown>>,
	});
	expect(output?.[0]?.json).toMatchObject({ result: { log: HIDDEN }, callback: { msg: HIDDEN } });
});
