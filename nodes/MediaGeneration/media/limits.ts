import { formats, type MediaFacts } from './formats';

/** Inclusive. */
interface Range {
	min: number;
	max: number;
}

/** A service's limits for a media file. What is absent is not limited. */
export interface MediaLimits {
	formats: ReadonlyArray<'jpeg' | 'png' | 'mp4' | 'quicktime'>;
	/** Inclusive. "10 MB" is best given as 10 × `MEBIBYTE`, the larger of two meanings. */
	maxBytes: number;
	/** In px; both sides must be greater. */
	minSide?: number;
	/** Width divided by height: 5:2 is 5 / 2. */
	aspect?: Range;
	/** In seconds, and 0.1 s more either way: containers round to whole frames. */
	duration?: Range;
}

export const MEBIBYTE = 1024 * 1024;

/** In seconds. */
const DURATION_TOLERANCE = 0.1;

const names = { jpeg: 'JPEG', png: 'PNG', mp4: 'MP4', quicktime: 'QuickTime' };

/**
 * Checks a file against the limits.
 * @param facts undefined: its format is unknown
 * @returns `refused`: what is certainly wrong, such as "lasts 2.1 s, but must last 3 to 30 s";
 * `unknown`: nouns for what could not be checked
 */
export function checkLimits(
	limits: MediaLimits,
	facts: MediaFacts | undefined,
	size?: number,
): { refused: string[]; unknown: string[] } {
	if (size === 0) return { refused: ['is empty'], unknown: [] };
	const { maxBytes, minSide, aspect, duration } = limits;
	const refused: string[] = [];
	const unknown = size === undefined ? ['size'] : [];
	if (size !== undefined && size > maxBytes)
		refused.push(
			`is ${formatMegabytes(size)}, but at most ${formatMegabytes(maxBytes)} are allowed`,
		);
	const fault = facts && findFormatFault(limits, facts);
	if (fault) return { refused: [...refused, fault], unknown };
	if (!facts) unknown.push('format');
	const { width, height, durationSeconds: seconds } = facts ?? {};
	if (width && height) refused.push(...listSizeFaults(limits, width, height));
	else if (minSide || aspect) unknown.push('width and height');
	if (duration && seconds === undefined) unknown.push('duration');
	if (duration && seconds !== undefined && !isWithin(seconds, duration, DURATION_TOLERANCE))
		refused.push(
			`lasts ${round(seconds, 1)} s, but must last ${duration.min} to ${duration.max} s`,
		);
	return { refused, unknown };
}

function findFormatFault(limits: MediaLimits, { format, kind }: MediaFacts): string | undefined {
	if (limits.formats.some((allowed) => allowed === format))
		return kind === 'other' ? 'has no video track' : undefined;
	const allowed = limits.formats.map((name) => names[name]).join(' or ');
	return `is ${formats[format]?.name ?? `of the format ${format}`}, but only ${allowed} is accepted`;
}

function listSizeFaults({ minSide = 0, aspect }: MediaLimits, width: number, height: number) {
	const size = `${width} × ${height} px`;
	const faults = [];
	if (Math.min(width, height) <= minSide)
		faults.push(`is ${size}, but both sides must be greater than ${minSide} px`);
	if (aspect && !isWithin(width / height, aspect))
		faults.push(
			`has an aspect ratio of ${formatRatio(width / height)} (${size}), but it must be from ${formatRatio(aspect.min)} to ${formatRatio(aspect.max)}`,
		);
	return faults;
}

const isWithin = (value: number, { min, max }: Range, tolerance = 0): boolean =>
	value >= min - tolerance && value <= max + tolerance;

const round = (value: number, digits: number): string => String(Number(value.toFixed(digits)));

/** In units of 1024 × 1024 bytes, rounded up: a file over the limit must look larger. */
const formatMegabytes = (bytes: number): string => `${Math.ceil((bytes / MEBIBYTE) * 10) / 10} MB`;

/** Small whole numbers if there are any, as 16:9; otherwise against 1, as 2.347:1. */
function formatRatio(ratio: number): string {
	for (let height = 1; height <= 20; height++) {
		const width = Math.round(ratio * height);
		if (width > 0 && Math.abs(width / height - ratio) < 1e-9) return `${width}:${height}`;
	}
	return ratio < 1 ? `1:${round(1 / ratio, 3)}` : `${round(ratio, 3)}:1`;
}
