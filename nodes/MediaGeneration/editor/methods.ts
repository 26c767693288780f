import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	ILoadOptionsFunctions,
} from 'n8n-workflow';
import { isObject, mapValues } from '../lib/json';
import { toPlainError, toPlainText } from '../lib/text';
import { GET_MODEL_FIELDS, LIST_MODEL_FIELDS, SEARCH_MODELS } from '../models/any/fields';

type Lookups = typeof import('./lookups');
type LookUp<Result> = (context: ILoadOptionsFunctions, filter?: string) => Promise<Result>;

/** The parts of an answer that the editor shows. Values stay as they are, because they are sent. */
const TEXTS = ['name', 'displayName', 'title', 'description', 'emptyFieldsNotice', 'message'];

/** The parts of an answer that are lists of choices or fields. */
const LISTS = ['results', 'fields', 'options'];

/** Makes the texts of an answer to the editor plain. */
function toPlainAnswer<Answer>(answer: Answer): Answer {
	if (Array.isArray(answer)) return answer.map(toPlainAnswer) as Answer;
	if (!isObject(answer)) return answer;
	return mapValues(answer, (part, key) => {
		if (LISTS.includes(key)) return toPlainAnswer(part);
		const isShown = typeof part === 'string' && TEXTS.includes(key);
		return isShown ? toPlainText(part) : part;
	}) as Answer;
}

/** Makes a method that loads its code on its first call: n8n loads this file at its start. */
const lookUp = <Result>(choose: (lookups: Lookups) => LookUp<Result>) =>
	async function (this: ILoadOptionsFunctions, filter?: string) {
		try {
			const find = choose(await import('./lookups'));
			return toPlainAnswer(await find(this, filter));
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
	},
	resourceMapping: { [GET_MODEL_FIELDS]: lookUp(({ getModelFields }) => getModelFields) },
};
