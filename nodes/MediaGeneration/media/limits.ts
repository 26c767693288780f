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
 * @returns `refused`: what is certainly wrong, each with what was found and what is allowed, for
 * example "lasts 2.1 s, but must last 3 to 30 s"; `unknown`: nouns for what could not be checked
 * and may well be right
 */
export function checkLimits(
	limits: MediaLimits,
	facts: MediaFacts | undefined,
	sizeInBytes?: number,
): { refused: string[]; unknown: string[] } {
	const refused: string[] = [];
	const unknown: string[] = [];
	const { aspect, duration, minSide = 0 } = limits;

	if (sizeInBytes === 0) return { refused: ['is empty'], unknown };
	if (sizeInBytes === undefined) unknown.push('size');
	else if (sizeInBytes > limits.maxBytes)
		refused.push(
			`is ${formatMegabytes(sizeInBytes)}, but at most ${formatMegabytes(limits.maxBytes)} are allowed`,
		);

	if (!facts) unknown.push('format');
	else if (!limits.formats.some((format) => format === facts.format)) {
		const allowed = limits.formats.map((format) => names[format]).join(' or ');
		const found = formats[facts.format]?.name ?? `of the format ${facts.format}`;
		return { refused: [...refused, `is ${found}, but only ${allowed} is accepted`], unknown };
	} else if (facts.kind === 'other')
		return { refused: [...refused, 'has no video track'], unknown };

	const { width, height, durationSeconds } = facts ?? {};
	if (width && height) {
		if (Math.min(width, height) <= minSide)
			refused.push(`is ${width} × ${height} px, but both sides must be greater than ${minSide} px`);
		const ratio = width / height;
		if (aspect && !isWithin(ratio, aspect))
			refused.push(
				`has an aspect ratio of ${formatRatio(ratio)} (${width} × ${height} px), ` +
					`but it must be from ${formatRatio(aspect.min)} to ${formatRatio(aspect.max)}`,
			);
	} else if (minSide || aspect) unknown.push('width and height');

	if (duration && durationSeconds === undefined) unknown.push('duration');
	else if (duration && !isWithin(durationSeconds as number, duration, DURATION_TOLERANCE))
		refused.push(
			`lasts ${round(durationSeconds as number, 1)} s, but must last ${duration.min} to ${duration.max} s`,
		);
	return { refused, unknown };
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
