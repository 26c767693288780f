import {
	Looks,
	startLooks,
	type LookTarget,
} from '../../nodes/MediaGeneration/operations/wait/looks';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const target: LookTarget = { url: 'https://n8n.example/w/1?signature=x', taskId: 'task', until: 0 };

type Answer = { status: number; resumed?: boolean } | undefined;

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

/** Has looks sent, and notes when. */
function run(until: number, answer: Answer = { status: 200 }) {
	const times: number[] = [];
	const onEnd = jest.fn();
	const looks = new Looks({ ...target, until }, onEnd, {
		now: Date.now,
		after: (milliseconds, look) => void setTimeout(look, milliseconds),
		send: async () => {
			times.push(Date.now() / SECOND);
			if (!answer) throw new Error('no answer');
			return answer;
		},
	});
	return { looks, times, onEnd };
}

it('are sent after 30 seconds, then after pauses that grow by three, and at the limit', async () => {
	const { times, onEnd } = run(30 * MINUTE);
	await jest.advanceTimersByTimeAsync(HOUR);
	expect(times).toEqual([
		30, 120, 390, 1_200, 1_800, 1_804, 1_808, 1_812, 1_816, 1_820, 1_824, 1_828,
	]);
	expect(onEnd).toHaveBeenCalledTimes(1);
});

it.each<[string, Answer]>([
	['that the execution continues', { status: 200, resumed: true }],
	['that it has ended', { status: 409 }],
	['that it does not exist', { status: 404 }],
])('end with the answer %s', async (_, answer) => {
	const { times, onEnd } = run(30 * MINUTE, answer);
	await jest.advanceTimersByTimeAsync(HOUR);
	expect(times).toEqual([30]);
	expect(onEnd).toHaveBeenCalledTimes(1);
});

it.each<[string, Answer]>([
	['no answer', undefined],
	['503', { status: 503 }],
	['401', { status: 401 }],
])('go on after %s, for a limit of seconds too', async (_, answer) => {
	const { times } = run(5 * SECOND, answer);
	await jest.advanceTimersByTimeAsync(HOUR);
	expect(times).toEqual([5, 9, 13, 17, 21, 25, 29, 33]);
});

it('begin anew with the first pause', async () => {
	const { looks, times } = run(30 * MINUTE);
	await jest.advanceTimersByTimeAsync(200 * SECOND);
	looks.restart();
	await jest.advanceTimersByTimeAsync(200 * SECOND);
	expect(times).toEqual([30, 120, 230, 320]);
});

it('are not sent once they are stopped', async () => {
	const { looks, times, onEnd } = run(30 * MINUTE);
	looks.stop();
	looks.restart();
	await jest.advanceTimersByTimeAsync(HOUR);
	expect(times).toEqual([]);
	expect(onEnd).toHaveBeenCalledTimes(1);
});

it('are sent once for each wait of an execution', () => {
	const until = Date.now() + MINUTE;
	const first = startLooks('execution node', { ...target, until });
	expect(startLooks('execution node', { ...target, taskId: 'other', until })).toBe(first);
	const next = startLooks('execution node', { ...target, until: until + 1 });
	expect(next).not.toBe(first);
	next.stop();
	expect(startLooks('execution node', { ...target, until: until + 1 })).not.toBe(next);
});
