import type { Credentials } from '../nodes/MediaGeneration/api/endpoints.ts';
import { createClient } from './client.cts';
import { askForFree, type FreeOptions } from './free.cts';
import { watchPaidTask, type PaidOptions } from './paid.cts';
import { Recording } from './recording.cts';

/** Services allow one look-up a second, for the whole account. */
const LOOKUP_PAUSE = 1_100;

interface ProbeOptions {
	free?: Partial<FreeOptions>;
	/** Absent: no task is created. */
	paid?: PaidOptions;
}

/** Asks a service what the package relies on. Nothing costs credits except the task in `paid`. */
export async function probe(credentials: Credentials, { free, paid }: ProbeOptions = {}) {
	const { accessToken, webhookSecret } = credentials;
	const recording = new Recording([accessToken, webhookSecret]);
	const client = createClient(credentials);
	const rows = await askForFree(credentials, client, recording, {
		lookupPause: LOOKUP_PAUSE,
		...free,
	});
	if (paid) rows.push(...(await watchPaidTask(credentials, client, recording, paid)));
	return { rows, recording };
}
