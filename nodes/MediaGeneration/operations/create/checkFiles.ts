import type { INodeProperties } from 'n8n-workflow';
import { isInternalUrl } from '../../lib/isInternalUrl';
import { findFactsByType } from '../../media/formats';
import { checkLimits } from '../../media/limits';
import { buildFieldError, readOption } from '../../models/field';
import { Media, replaceEach } from '../../models/media';
import { type Item } from '../operation';
import { findInputFile, type InputFile } from './inputFile';

/** In Options: whether media URLs are checked before the user pays. */
export const checkUrls: INodeProperties = {
	displayName: 'Check Media URLs',
	name: 'checkUrls',
	type: 'boolean',
	default: false,
	description:
		'Whether to ask the hosts of media URLs for type and size first, if the model limits them. If a host does not answer, its URL is sent without a check. Files in binary fields are always checked.',
};

/**
 * Puts files and URLs in place of the media of an input, and checks them against the model's limits.
 * What can't be read from a file isn't checked, and a hint says so.
 * @throws {UserError} when a binary field does not exist, or a file is outside of the limits
 */
export async function findFiles(
	item: Item,
	input: Record<string, unknown>,
): Promise<Record<string, unknown>> {
	const files = new Map<string, InputFile>();
	const find = async (media: Media): Promise<InputFile | string> => {
		const { source, label, isUrl } = media;
		if (isUrl) {
			if (readOption(item.option, checkUrls) === true) await checkUrl(item, media);
			return source;
		}
		const file = files.get(source) ?? (await findInputFile(item, source, label));
		files.set(source, file);
		await checkFile(item, media, file);
		return file;
	};
	return (await replaceEach(input, Media, find)) as Record<string, unknown>;
}

async function checkFile({ context, index }: Item, media: Media, file: InputFile): Promise<void> {
	const { label, source, limits } = media;
	if (!limits) return;
	const { refused, unknown } = checkLimits(limits, await file.inspect(), file.size);
	refuse(media, refused);
	if (unknown.length)
		context.addExecutionHints({
			type: 'warning',
			message: `'${label}' [item ${index}]: the file in "${source}" was sent without a check of its ${unknown.join(' and its ')}, which could not be read.`,
		});
}

/** The timeout of HEAD requests, in milliseconds. */
const HEAD_TIMEOUT = 5_000;

/** Asks the host of a URL for type and size. A public service can't open an address in this network. */
async function checkUrl({ context, service }: Item, media: Media): Promise<void> {
	const { source: url, limits } = media;
	if (!limits || (isInternalUrl(url) && !isInternalUrl(service.credentials.baseUrl))) return;
	const head = { url, method: 'HEAD' as const, timeout: HEAD_TIMEOUT, disableFollowRedirect: true };
	const answer = (await context.helpers
		.httpRequest({ ...head, returnFullResponse: true })
		.catch(() => undefined)) as { headers: Record<string, unknown> } | undefined;
	if (!answer) return;
	const { headers } = answer;
	const size = Number.parseInt(String(headers['content-length']), 10);
	const facts = findFactsByType(String(headers['content-type']));
	refuse(media, checkLimits(limits, facts, Number.isNaN(size) ? undefined : size).refused);
}

function refuse({ label, source, isUrl }: Media, refused: string[]): void {
	if (refused.length)
		throw buildFieldError(
			`'${label}' can't be used: the file ${isUrl ? 'at the URL' : `in "${source}"`} ${refused.join(', and it ')}`,
			'Nothing was sent for this item. Give a file within the limits, then run the node again.',
		);
}
