import { answerOnceStored } from '../../../nodes/MediaGeneration/host/storedAnswer';

it('the answer is asked for when n8n reads it, which is when it has stored the execution', () => {
	const onStored = jest.fn(() => ({ accepted: true }));
	const response = answerOnceStored([{ json: { taskId: 'task' } }], onStored);
	expect(response.workflowData).toEqual([[{ json: { taskId: 'task' } }]]);
	expect(onStored).not.toHaveBeenCalled();
	expect(response.webhookResponse).toEqual({ accepted: true });
});
