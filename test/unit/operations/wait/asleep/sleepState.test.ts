import {
	settleDelivery,
	type SleepState,
} from '../../../../../nodes/MediaGeneration/run/nap';

const delivering = (writableEnded: boolean, statusCode = 200): SleepState => ({
	is: 'delivering',
	response: { writableEnded, statusCode },
});

it.each<[string, SleepState, SleepState['is']]>([
	['waiting stays so', { is: 'waiting' }, 'waiting'],
	['being delivered stays so until n8n answers', delivering(false), 'delivering'],
	['is over once n8n has stored what was delivered', delivering(true), 'over'],
	['waits again if n8n could not store it', delivering(true, 500), 'waiting'],
	['waits again if n8n refused it', delivering(true, 409), 'waiting'],
	['that is over stays so', { is: 'over' }, 'over'],
])('a sleep %s', (_, state, expected) => {
	expect(settleDelivery(state).is).toBe(expected);
});
