import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	ILoadOptionsFunctions,
	INodeCredentialTestResult,
	INodeListSearchResult,
	INodePropertyOptions,
	ResourceMapperFields,
} from 'n8n-workflow';
import {
	GET_MODEL_FIELDS,
	GUIDE_JSON,
	LIST_MODEL_FIELDS,
	SEARCH_MODELS,
} from '../models/any/anyFields';

/**
 * The code of the look-ups is loaded with the first one, because n8n loads this file at its start.
 */
const loadLookups = async () => await import('./lookups');

/** The test of the credential, by the name that both nodes give in `testedBy`. */
export const credentialTest = {
	async testCredential(
		this: ICredentialTestFunctions,
		credential: ICredentialsDecrypted,
	): Promise<INodeCredentialTestResult> {
		const { testCredential } = await import('../api/testCredential');
		return await testCredential(this, credential);
	},
};

/** The node's answers to the editor, and to AI builders. */
export const methods = {
	credentialTest,
	listSearch: {
		async [SEARCH_MODELS](
			this: ILoadOptionsFunctions,
			filter?: string,
			paginationToken?: string,
		): Promise<INodeListSearchResult> {
			return await (await loadLookups()).searchModels(this, filter, paginationToken);
		},
	},
	loadOptions: {
		async [LIST_MODEL_FIELDS](this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
			return await (await loadLookups()).listModelFields(this);
		},
		async [GUIDE_JSON](this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
			return await (await loadLookups()).guideJson(this);
		},
	},
	resourceMapping: {
		async [GET_MODEL_FIELDS](this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
			return await (await loadLookups()).getModelFields(this);
		},
	},
};
