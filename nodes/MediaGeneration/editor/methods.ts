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

/** Loads the code of the look-ups with the first one: n8n loads this file at its start. */
const loadLookups = async () => await import('./lookups');

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
	listSearch: {
		async [SEARCH_MODELS](this: ILoadOptionsFunctions, filter?: string) {
			return await (await loadLookups()).searchModels(this, filter);
		},
	},
	loadOptions: {
		async [LIST_MODEL_FIELDS](this: ILoadOptionsFunctions) {
			return await (await loadLookups()).listModelFields(this);
		},
		async [GUIDE_JSON](this: ILoadOptionsFunctions) {
			return await (await loadLookups()).guideJson(this);
		},
	},
	resourceMapping: {
		async [GET_MODEL_FIELDS](this: ILoadOptionsFunctions) {
			return await (await loadLookups()).getModelFields(this);
		},
	},
};
