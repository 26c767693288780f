import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	ILoadOptionsFunctions,
} from 'n8n-workflow';
import { toPlainError, toPlainText } from '../lib/text';
import { GET_MODEL_FIELDS, LIST_MODEL_FIELDS, SEARCH_MODELS } from '../models/any/fields';

type ModelMethods = typeof import('./modelMethods');
type Method<Result> = (context: ILoadOptionsFunctions, filter?: string) => Promise<Result>;

/** The parts of an answer that the editor shows. Values stay as they are, because they are sent. */
const TEXT_KEYS = /^(name|displayName|description|emptyFieldsNotice|message)$/;

/** Makes the texts of an answer to the editor plain. */
const toPlainAnswer = <Answer>(answer: Answer): Answer =>
	JSON.parse(JSON.stringify(answer), (key, part: unknown) =>
		typeof part === 'string' && TEXT_KEYS.test(key) ? toPlainText(part) : part,
	) as Answer;

/** Makes a method that loads its code on its first call: n8n loads this file at its start. */
const loadLater = <Result>(choose: (methods: ModelMethods) => Method<Result>) =>
	async function (this: ILoadOptionsFunctions, filter?: string) {
		try {
			const method = choose(await import('./modelMethods'));
			return toPlainAnswer(await method(this, filter));
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
	listSearch: { [SEARCH_MODELS]: loadLater(({ searchModels }) => searchModels) },
	loadOptions: {
		[LIST_MODEL_FIELDS]: loadLater(({ listModelFields }) => listModelFields),
	},
	resourceMapping: { [GET_MODEL_FIELDS]: loadLater(({ getModelFields }) => getModelFields) },
};
