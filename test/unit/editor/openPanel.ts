import type { IHttpRequestOptions, ILoadOptionsFunctions } from 'n8n-workflow';
import { answerFromCorpus } from '../corpus';
import { fake } from '../n8n';

let accounts = 0;

/** Opens the node's panel with these parameters, for an account that nobody used before. */
export function openPanel(
	parameters: Record<string, unknown>,
	answer: (path: string) => object = answerFromCorpus,
) {
	const credentials = { baseUrl: 'https://service.example', accessToken: `token ${accounts++}` };
	const requests: string[] = [];
	const context = fake<ILoadOptionsFunctions>({
		getNode: () => ({ name: 'Media Generation' }),
		getCredentials: async () => credentials,
		getCurrentNodeParameter: (name: string) => parameters[name],
		helpers: {
			httpRequestWithAuthentication: async (_: string, { url }: IHttpRequestOptions) => {
				const path = url.replace(credentials.baseUrl, '');
				requests.push(path);
				return { statusCode: 200, body: JSON.stringify(answer(path)) };
			},
		},
	});
	return { context, requests };
}
