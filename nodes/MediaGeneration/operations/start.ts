import { GET_KEY } from '../callback/scheme';
import { TRIGGER_NAME } from '../lib/brand';
import { modelFields } from '../models';
import { parseValue, readOption, type Field } from '../models/field';
import { buildFieldError } from '../models/values';
import { webUrl } from '../models/commonFields';
import { creationOptionsField } from '../run/input/options';
import type { Item } from '../run/input/item';
import type { CreatingOperation } from './operation';
import { readTextField } from './sharedFields';

const callbackUrl: Field = {
	displayName: 'Callback URL',
	name: 'callbackUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. https://n8n.example.com/webhook/…/webhook',
	hint: `The Production URL of a ${TRIGGER_NAME} in an active workflow`,
	description: 'Where the service reports the end of the task. If blank, look later with Get.',
	send: { schema: webUrl },
};

/** The size of a reference. Services may limit the callback URL, which grows by 4 bytes for 3 bytes of it. */
const MAX_REFERENCE_BYTES = 500;

const referenceOption: Field = {
	displayName: 'Reference',
	name: 'reference',
	type: 'string',
	default: '',
	placeholder: 'e.g. the ID of a chat',
	description: `What the trigger outputs as reference with the task, such as a chat's ID or a row; at most ${MAX_REFERENCE_BYTES} bytes. Signed, but no secret: the callback URL has it.`,
	send: {
		// A row of a table, for example, as an expression returns it.
		unpack: (value) => (value && typeof value === 'object' ? JSON.stringify(value) : value),
	},
};

const buildReferenceError = (fault: string, remedy: string) =>
	buildFieldError(`'Reference' in Options ${fault}`, `${remedy}, or remove the option.`);

/** Adds the reference in Options to a callback URL. @throws {UserError} if it can't be added */
async function withReference(url: string | undefined, item: Item) {
	const reference = readOption(item.option, referenceOption) as string | undefined;
	if (reference === undefined) return url;
	const bytes = Buffer.byteLength(reference);
	if (bytes > MAX_REFERENCE_BYTES)
		throw buildReferenceError(
			`has ${bytes} bytes in UTF-8, and may have at most ${MAX_REFERENCE_BYTES}`,
			'Shorten it, for example to the ID of a row in a Data Table',
		);
	if (!url)
		throw buildReferenceError(
			"is part of the callback URL, and 'Callback URL' is blank",
			`Enter the URL of a ${TRIGGER_NAME}`,
		);
	const { addReference } = await import('../callback/reference');
	const { readSigningKeys } = await import('../callback/signature');
	const keys = readSigningKeys(item.service.credentials);
	if (!keys)
		throw buildReferenceError(
			"can't be signed, because the credential has no 'Webhook HMAC Key'",
			GET_KEY,
		);
	return addReference(url, reference, keys);
}

export const startOperation: CreatingOperation = {
	resource: 'task',
	value: 'start',
	name: 'Start Without Waiting',
	action: 'Start a video or image without waiting',
	description: 'Start a task and continue at once; its result comes later',
	fields: [...modelFields, callbackUrl, creationOptionsField([referenceOption])],
	buildRequest: async (item) => {
		const ownUrl = readTextField(item, callbackUrl);
		// The URL in a pasted body counts if the field is blank. It is checked like the field.
		const fieldInBody = { ...callbackUrl, displayName: 'callBackUrl in Input (JSON)' };
		const { prepareRequest } = await import('../run/input/request');
		const request = await prepareRequest(
			item,
			(pasted) => (ownUrl || parseValue(fieldInBody, pasted)) as string | undefined,
		);
		return { ...request, callBackUrl: await withReference(request.callBackUrl, item) };
	},
};
