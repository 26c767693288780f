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

it('the trigger hides the password of WEBHOOK_URL in the details and the body of a callback', async () => {
	const { output } = await sendCallback(receiveCallback, {
		taskId: 't',
		body: { data: { task_id: 't' }, msg: SAID },
		readDetails: async () =>
			await Promise.resolve(buildDetails('t', 'success', { resultJson: { log: SAID } })),
		node: { id: 'node', name: 'Trigger', parameters: { events: ['taskCompleted'] } },
		more: { ...fields, getWorkflowStaticData: () => ({}) },
	});
	expect(output?.[0]?.json).toMatchObject({ result: { log: HIDDEN }, callback: { msg: HIDDEN } });
});
