import { answerOnceStored } from '../../../nodes/MediaGeneration/host/storedAnswer';

it('n8n has the items at once, and reads the answer once it has stored them', () => {
	const onStored = jest.fn(() => ({ status: 'accepted' }));
	const items = [{ json: { taskId: 'task' } }];
	const result = answerOnceStored(items, onStored);
	expect(result.workflowData).toEqual([items]);
	expect(onStored).not.toHaveBeenCalled();
	expect(result.webhookResponse).toEqual({ status: 'accepted' });
});
