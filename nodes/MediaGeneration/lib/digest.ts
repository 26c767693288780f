import { createHash } from 'crypto';

/** Makes a short one-way digest of a JSON value. Equal values have equal digests. */
export const digest = (value: unknown): string =>
	createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);
