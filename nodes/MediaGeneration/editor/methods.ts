import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	ILoadOptionsFunctions,
} from 'n8n-workflow';
import {
	GET_MODEL_FIELDS,
	GUIDE_JSON,
	LIST_MODEL_FIELDS,
	SEARCH_MODELS,
} from '../models/any/anyFields';

type Lookups = typeof import('./lookups');
type LookUp<Result> = (context: ILoadOptionsFunctions, filter?: string) => Promise<Result>;

/** Makes a method that loads its code with the first call: n8n loads this file at its start. */
const lookUp = <Result>(choose: (lookups: Lookups) => LookUp<Result>) =>
	async function (this: ILoadOptionsFunctions, filter?: string) {
		return await choose(await import('./lookups'))(this, filter);
	};

/** The test of the credential, by the name that both nodes give in `testedBy`. */
export const credentialTest = {
	async testCredential(this: ICredentialTestFunctions, credential: ICredentialsDecrypted) {
		const { testCredential } = await import('../api/testCredential');
		return await testCredential(this, credential);
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
