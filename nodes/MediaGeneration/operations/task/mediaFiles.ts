import type { IExecuteFunctions } from 'n8n-workflow';
import { formats, formatOfType, type Format } from '../../media/formats';
import type { MediaFacts } from '../../media/facts';
import { violations } from '../../media/limits';
import { FieldError } from '../../models/field';
import { mediaIn, replaceMedia, type Media } from '../../models/media';
import type { ModelRequest } from '../../models/model';
import type { RequestSettings, TaskService } from '../../service/client';
import { binaryFieldsOf, binaryFile, type BinaryFile } from '../binary';
import type { Item } from '../operation';
import { noSuchFile, uploadBinary } from '../upload';

/** The files of a request that have to be uploaded, by the name of their binary field. */
export type MediaFiles = Map<string, BinaryFile>;

/** How long a host may take to say what it has at a URL. */
const HEAD_TIMEOUT = 5_000;

/**
 * Finds the files that a request names, and holds them against what the model takes of them, before anything is sent. What
 * can't be read is passed on, with a warning in the execution's hints.
 * @param looksAtUrls whether the hosts of URLs are asked for type and size
 * @throws {FieldError} when a binary field does not exist, or a file is certainly not what the model takes
 */
export async function checkMedia(
	{ context, index }: Item,
	{ input }: ModelRequest,
	looksAtUrls: boolean,
): Promise<MediaFiles> {
	const files: MediaFiles = new Map();
	for (const media of mediaIn(input)) {
		if (media.isUrl) {
			if (looksAtUrls && media.limits) await holdUrl(context, media);
			continue;
		}
		const file = await binaryFile(context, index, media.source);
		if (!file) throw noSuchFile(media.label, media.source, binaryFieldsOf(context, index));
		files.set(media.source, file);
		if (!media.limits) continue;
		const { refused, unknown } = violations(media.limits, await file.inspect(), file.size);
		refuse(media, refused);
		if (unknown.length)
			context.addExecutionHints({
				type: 'warning',
				message: `${media.label} [item ${index}]: ${unknown.join(', ')} could not be read from the file "${media.source}", and was passed on unchecked.`,
			});
	}
	return files;
}

/**
 * Uploads the files of a request, each once.
 * @returns the request's input, with URLs only
 */
export async function uploadMedia(
	context: IExecuteFunctions,
	service: TaskService,
	{ input }: ModelRequest,
	files: MediaFiles,
	settings: RequestSettings,
): Promise<Record<string, unknown>> {
	const urls = new Map<string, string>();
	for (const [name, file] of files)
		urls.set(name, (await uploadBinary(context, service, file, settings)).url);
	return replaceMedia(input, ({ source }) => urls.get(source) ?? source) as Record<string, unknown>;
}

/** Asks the host of a URL what it has there; a host that does not say is believed. */
async function holdUrl({ helpers }: IExecuteFunctions, media: Media): Promise<void> {
	let headers: Record<string, unknown>;
	try {
		({ headers } = (await helpers.httpRequest({
			url: media.source,
			method: 'HEAD',
			timeout: HEAD_TIMEOUT,
			returnFullResponse: true,
		})) as { headers: Record<string, unknown> });
	} catch {
		return;
	}
	const size = Number.parseInt(String(headers['content-length']), 10);
	const facts = factsOf(String(headers['content-type']));
	if (!media.limits) return;
	refuse(media, violations(media.limits, facts, Number.isNaN(size) ? undefined : size).refused);
}

/** What a content type says of a file, where it names one of the formats. */
function factsOf(contentType: string): MediaFacts | undefined {
	const type = contentType.split(';')[0]?.trim().toLowerCase();
	const format = type && formatOfType(type);
	return format ? { ...(formats[format] as Format), format } : undefined;
}

function refuse({ label, source, isUrl }: Media, refused: string[]): void {
	if (refused.length)
		throw new FieldError(
			`${label} can not be used: the file ${isUrl ? 'at the URL' : `in "${source}"`} ${refused.join(', and it ')}`,
			'Nothing was created. Give a file within the limits, then run the node again.',
		);
}
