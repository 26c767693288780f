import type { MediaFacts } from './formats';

const FORMAT_NAMES = { jpeg: 'JPEG', png: 'PNG', mp4: 'MP4', quicktime: 'QuickTime' };

/** A service's limits for a media file. Absent: no limit. */
export interface MediaLimits {
	formats: ReadonlyArray<keyof typeof FORMAT_NAMES>;
	/** Inclusive. Write "10 MB" as 10 × `MEBIBYTE`, the more generous reading. */
	maxBytes: number;
	/** In pixels. Both sides must be greater. */
	minSide?: number;
	/** The largest ratio of the longer side to the shorter one: [5, 2] allows 2:5 to 5:2. */
	aspect?: readonly [longer: number, shorter: number];
	/** In seconds, inclusive, plus 0.1 s either way, because containers round to whole frames. */
	duration?: { min: number; max: number };
}

export const MEBIBYTE = 1024 * 1024;

/** In seconds. */
const DURATION_TOLERANCE = 0.1;

/**
 * Checks a file against the limits. What can't be read of it isn't checked.
 * @param facts undefined for an unknown format
 * @returns what is certainly wrong, such as "lasts 2.1 s, but must last 3 to 30 s"
 */
export function checkLimits(
	limits: MediaLimits,
	facts: MediaFacts | undefined,
	size: number,
): string[] {
	if (size === 0) return ['is empty'];
	const { maxBytes, duration } = limits;
	const refused: string[] = [];
	if (size > maxBytes)
		refused.push(
			`is ${formatMegabytes(size)}, but at most ${formatMegabytes(maxBytes)} are allowed`,
		);
	const fault = facts && findFormatFault(limits, facts);
	if (fault) return [...refused, fault];
	const { width, height, durationSeconds: seconds } = facts ?? {};
	if (width && height) refused.push(...listSizeFaults(limits, width, height));
	if (duration && seconds !== undefined && isOutside(seconds, duration))
		refused.push(
			`lasts ${Number(seconds.toFixed(1))} s, but must last ${duration.min} to ${duration.max} s`,
		);
	return refused;
}

function findFormatFault(limits: MediaLimits, facts: MediaFacts): string | undefined {
	if (limits.formats.some((allowed) => allowed === facts.format))
		return facts.kind === 'other' ? 'has no video track' : undefined;
	const allowed = limits.formats.map((format) => FORMAT_NAMES[format]).join(' or ');
	return `is ${facts.name}, but only ${allowed} is accepted`;
}

function listSizeFaults({ minSide = 0, aspect }: MediaLimits, width: number, height: number) {
	const is = `is ${width} × ${height} px`;
	const [shorter, longer] = [Math.min(width, height), Math.max(width, height)];
	const faults = [];
	if (shorter <= minSide) faults.push(`${is}, but both sides must be greater than ${minSide} px`);
	const [long, short] = aspect ?? [Infinity, 1];
	if (longer * short > shorter * long)
		faults.push(`${is}, but its aspect ratio must be from ${short}:${long} to ${long}:${short}`);
	return faults;
}

const isOutside = (seconds: number, { min, max }: { min: number; max: number }): boolean =>
	seconds < min - DURATION_TOLERANCE || seconds > max + DURATION_TOLERANCE;

/** In MiB, rounded up, so that a file over the limit looks larger than it. */
const formatMegabytes = (bytes: number): string => `${Math.ceil((bytes / MEBIBYTE) * 10) / 10} MB`;
