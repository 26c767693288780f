import {
	Looks,
	startLooks,
	type LookTarget,
} from '../../nodes/MediaGeneration/operations/wait/looks';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const target: LookTarget = { url: 'https://n8n.example/w/1?signature=x', taskId: 'task', until: 0 };

type Answer = { status: number; resumed?: boolean } | undefined;

/** Has looks sent on a clock of its own, and notes when. */
function run(until: number, answer: (at: number) => Answer = () => ({ status: 200 })) {
	let now = 0;
	const timers: Array<{ at: number; run: () => void }> = [];
	const times: number[] = [];
	let ends = 0;
	const looks = new Looks({ ...target, until }, () => ends++, {
		now: () => now,
		after: (milliseconds, run) => timers.push({ at: now + milliseconds, run }),
		send: async () => {
			times.push(now / SECOND);
			const given = answer(now);
			if (!given) throw new Error('no answer');
			return given;
		},
	});
	const advance = async (to = Infinity) => {
		for (;;) {
			const next = timers.sort((a, b) => a.at - b.at)[0];
			if (!next || next.at > to) return;
			timers.shift();
			now = next.at;
			next.run();
			await new Promise(setImmediate);
		}
	};
	return { looks, times, advance, countEnds: () => ends };
}

it('are sent after 30 seconds, then after pauses that grow by three, and at the limit', async () => {
	const { times, advance, countEnds } = run(30 * MINUTE);
	await advance();
	expect(times).toEqual([
		30, 120, 390, 1_200, 1_800, 1_804, 1_808, 1_812, 1_816, 1_820, 1_824, 1_828,
	]);
	expect(countEnds()).toBe(1);
});

it.each<[string, Answer]>([
	['that the execution continues', { status: 200, resumed: true }],
	['that it has ended', { status: 409 }],
	['that it does not exist', { status: 404 }],
])('end with the answer %s', async (_, answer) => {
	const { times, advance, countEnds } = run(30 * MINUTE, () => answer);
	await advance();
	expect(times).toEqual([30]);
	expect(countEnds()).toBe(1);
});

it.each<[string, Answer]>([
	['no answer', undefined],
	['503', { status: 503 }],
	['401', { status: 401 }],
])('go on after %s, for a limit of seconds too', async (_, answer) => {
	const { times, advance } = run(5 * SECOND, () => answer);
	await advance();
	expect(times).toEqual([5, 9, 13, 17, 21, 25, 29, 33]);
});

it('begin anew with the first pause', async () => {
	const { looks, times, advance } = run(30 * MINUTE);
	await advance(200 * SECOND);
	looks.restart();
	await advance(300 * SECOND);
	expect(times).toEqual([30, 120, 150, 240]);
});

it('are not sent once they are stopped', async () => {
	const { looks, times, advance, countEnds } = run(30 * MINUTE);
	looks.stop();
	looks.restart();
	await advance();
	expect(times).toEqual([]);
	expect(countEnds()).toBe(1);
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
