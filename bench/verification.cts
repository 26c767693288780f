import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { median } from 'simple-statistics';
import { root } from '../dev/pack.cts';
import type * as verifyModule from '../nodes/MediaGeneration/callback/verify';
import { interleave, type Row } from './measure.cts';

const ROUNDS = 201;
const CALLS = 1_000;

const KEY = 'whsec-0123456789abcdef0123456789abcdef';
const TASK_ID = '0123456789abcdef0123456789abcdef';

/** The built module. What tsx makes of a source is slower: it keeps the name of each function. */
const { verifyCallback } = createRequire(path.join(root, 'dist', 'nodes', 'MediaGeneration', '/'))(
	'./callback/verify',
) as typeof verifyModule;

/** Prepares the parts of a verdict on a genuine callback. */
function prepare() {
	const seconds = String(Math.floor(Date.now() / 1_000));
	const hash = () => createHmac('sha256', KEY).update(`${TASK_ID}.${seconds}`).digest('base64');
	const common = { host: 'n8n.example', 'content-type': 'application/json' };
	const headers = { ...common, 'x-webhook-timestamp': seconds, 'x-webhook-signature': hash() };
	const data = { task_id: TASK_ID, callbackType: 'task_completed' };
	const body = { taskId: TASK_ID, code: 200, msg: 'success', data };
	const verify = (secrets?: { current: string }) => {
		const settings = { secrets, toleranceSeconds: 300, now: Date.now() };
		if (!verifyCallback(headers, body, settings).accepted)
			throw new Error('A genuine callback was refused');
	};
	return { hash, verdict: () => verify({ current: KEY }), unsigned: () => verify() };
}

/** Measures what a verdict on a genuine callback costs beside the one HMAC that it can't do without. */
export async function bench(): Promise<Row[]> {
	const parts = await interleave(prepare(), { rounds: ROUNDS }, async (part) => {
		const begun = performance.now();
		for (let call = 0; call < CALLS; call++) part();
		return ((performance.now() - begun) * 1_000) / CALLS;
	});
	const hash = median(parts.hash);
	const showPart = (name: string, of: keyof typeof parts, less: number): Row => ({
		name: `${name}, of one HMAC`,
		value: (median(parts[of]) - less) / hash,
		goal: { atMost: 1 },
		figures: `${median(parts[of]).toFixed(2)} µs, less ${less.toFixed(2)} µs; one HMAC ${hash.toFixed(2)} µs`,
	});
	return [
		showPart('All checks besides the signature', 'unsigned', 0),
		showPart('The whole verdict without its HMAC', 'verdict', hash),
	];
}
