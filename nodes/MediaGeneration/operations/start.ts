import { GET_KEY } from '../callback/scheme';
import { TRIGGER_NAME } from '../lib/brand';
import { modelFields } from '../models';
import { webUrl } from '../models/commonFields';
import { parseValue, readOption, type Field } from '../models/field';
import { buildFieldError } from '../models/values';
import { buildOptionsField } from '../run/input/options';
import type { Item } from '../run/input/item';
import type { CreatingOperation } from './operation';

const callbackUrl: Field = {
	displayName: 'Callback URL',
	name: 'callbackUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. https://n8n.example.com/webhook/…/webhook',
	hint: `The URL of a ${TRIGGER_NAME}. If blank, nothing is reported.`,
	description: `Where the service reports the end of the task: the Production URL of a ${TRIGGER_NAME} in an active workflow. Without one, look at the task later with Get.`,
	send: { schema: webUrl },
};

const readPasted = (pasted: unknown) =>
	parseValue({ ...callbackUrl, displayName: 'callBackUrl in Input (JSON)' }, pasted) as
		| string
		| undefined;

/** The longest reference, in bytes: the callback URL grows by 4 for 3, and services may limit it. */
const MOST_BYTES = 500;

/** A row of a table, for example, as an expression returns it. */
const writeObject = (value: unknown) =>
	typeof value === 'object' && value !== null ? JSON.stringify(value) : value;

const referenceOption: Field = {
	displayName: 'Reference',
	name: 'reference',
	type: 'string',
	default: '',
	placeholder: 'e.g. the ID of a chat',
	description: `What the ${TRIGGER_NAME} outputs as reference with the task, such as a chat's ID, or a row. At most ${MOST_BYTES} bytes; an object becomes JSON. It is signed with the credential's 'Webhook HMAC Key', and is no secret: it is part of the callback URL.`,
	send: { unpack: writeObject },
};

/** For errors. */
const PLACE = "'Reference' in Options";

/** @throws {UserError} if it is blank, no text, or too long */
function readReferenceOption({ option }: Item): string | undefined {
	const reference = readOption(option, referenceOption) as string | undefined;
	const bytes = Buffer.byteLength(reference ?? '');
	if (bytes <= MOST_BYTES) return reference;
	throw buildFieldError(
		`${PLACE} has ${bytes} bytes in UTF-8, and may have at most ${MOST_BYTES}`,
		'Shorten it. For more, enter an ID here, and keep what belongs to it in a Data Table.',
	);
}

/** Adds the reference in Options to a callback URL. @throws {UserError} if that can't be done */
async function withReference(url: string | undefined, item: Item): Promise<string | undefined> {
	const reference = readReferenceOption(item);
	if (reference === undefined) return url;
	if (!url)
		throw buildFieldError(
			`${PLACE} is part of the callback URL, and 'Callback URL' is blank`,
			`Enter the URL of a ${TRIGGER_NAME}, or remove the option.`,
		);
	const { addReference, hasReference } = await import('../callback/reference');
	if (hasReference(url))
		throw buildFieldError(
			`${PLACE} adds a parameter 'reference', and the callback URL has one already`,
			'Rename the one in the URL, or remove the option.',
		);
	const { readSigningKeys } = await import('../callback/signature');
	const keys = readSigningKeys(item.service.credentials);
	if (!keys)
		throw buildFieldError(
			`${PLACE} can't be signed, because the credential has no 'Webhook HMAC Key'`,
			`${GET_KEY}, or remove the option.`,
		);
	return addReference(url, reference, keys);
}

export const start: CreatingOperation = {
	resource: 'task',
	value: 'start',
	name: 'Start Without Waiting',
	action: 'Start a video or image without waiting',
	description: 'Start a task and continue at once; its result comes later',
	fields: [...modelFields, callbackUrl, buildOptionsField([referenceOption])],
	request: async (item) => {
		const own = parseValue(callbackUrl, item.read(callbackUrl.name)) as string | undefined;
		const { prepareRequest } = await import('../run/input/request');
		const request = await prepareRequest(item, (pasted) => own ?? readPasted(pasted));
		return { ...request, callBackUrl: await withReference(request.callBackUrl, item) };
	},
};
