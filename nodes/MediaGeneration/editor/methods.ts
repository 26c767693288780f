import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	ILoadOptionsFunctions,
} from 'n8n-workflow';
import { isObject } from '../lib/json';
import { toPlainError, toPlainText } from '../lib/text';
import {
	GET_MODEL_FIELDS,
	GUIDE_JSON,
	LIST_MODEL_FIELDS,
	SEARCH_MODELS,
} from '../models/any/fields';

type Lookups = typeof import('./lookups');
type LookUp<Result> = (context: ILoadOptionsFunctions, filter?: string) => Promise<Result>;

/** What the editor shows of an answer. Values are sent, so they stay. */
const TEXTS = ['name', 'displayName', 'description', 'emptyFieldsNotice', 'message'];

/** Where an answer has choices and fields. */
const LISTS = ['results', 'fields', 'options'];

/** Makes the texts of an answer to the editor plain. */
function toPlainAnswer<Answer>(answer: Answer): Answer {
	if (Array.isArray(answer)) return answer.map(toPlainAnswer) as Answer;
	if (!isObject(answer)) return answer;
	const parts = Object.entries(answer).map(([key, part]) => {
		if (LISTS.includes(key)) return [key, toPlainAnswer(part)];
		return [key, typeof part === 'string' && TEXTS.includes(key) ? toPlainText(part) : part];
	});
	return Object.fromEntries(parts) as Answer;
}

/** Makes a method that loads its code with the first call: n8n loads this file at its start. */
const lookUp = <Result>(choose: (lookups: Lookups) => LookUp<Result>) =>
	async function (this: ILoadOptionsFunctions, filter?: string) {
		try {
			return toPlainAnswer(await choose(await import('./lookups'))(this, filter));
		} catch (error) {
			throw toPlainError(error as Error);
		}
	};

/** The test of the credential, by the name that both nodes give in `testedBy`. */
export const credentialTest = {
	async testCredential(this: ICredentialTestFunctions, credential: ICredentialsDecrypted) {
		const { testCredential } = await import('./testCredential');
		return toPlainAnswer(await testCredential(this, credential));
	},
};

/** The node's answers to the editor, and to AI builders. */
export const methods = {
	credentialTest,
	listSearch: { [SEARCH_MODELS]: lookUp(({ searchModels }) => searchModels) },
	loadOptions: {
		[LIST_MODEL_FIELDS]: lookUp(({ listModelFields }) => listModelFields),
		[GUIDE_JSON]: lookUp(({ guideJson }) => guideJson),
	},
	resourceMapping: { [GET_MODEL_FIELDS]: lookUp(({ getModelFields }) => getModelFields) },
};
