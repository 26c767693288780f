import { UserError } from 'n8n-workflow';
import { toErrorItem, toNodeError } from '../../nodes/MediaGeneration/operations/errors';
import { buildContext } from './context';

const context = buildContext();
const refusal = (hint = 'Nothing was created. Wait.') =>
	new UserError('Refused', { description: hint });

describe('the tasks that exist', () => {
	it.each<[string[], string]>([
		[[], 'Nothing was created. Wait.'],
		[['a'], 'Nothing more was created. Wait. This task exists. Look at it with Get: a'],
		[['a', 'b'], 'Nothing more was created. Wait. These tasks exist. Look at them with Get: a, b'],
	])('are named by the error that ends a run: %j', (taskIds, description) => {
		expect(toNodeError(context, refusal(), 0, taskIds)).toMatchObject({
			message: 'Refused [item 0]',
			description,
		});
	});

	it('are named up to a thousand, and the others counted', () => {
		const ids = Array.from({ length: 1_234 }, (_, index) => `task-${index}`);
		const { description } = toNodeError(context, refusal('Wait.'), undefined, ids);
		expect(description).toMatch(/^Wait\. These tasks exist\..* task-999 and 234 more$/);
	});

	it("are named by an item's own error", () => {
		const toJson = (error: Error, taskId?: string) => toErrorItem(context, error, 2, taskId).json;
		expect(toJson(new Error('Closed'))).toEqual({ error: 'Closed [item 2]' });
		expect(toJson(new Error('Closed'), 'a1')).toEqual({
			error: 'Closed [item 2]',
			message: 'This task exists. Look at it with Get: a1',
		});
	});
});
