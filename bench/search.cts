import { CREDENTIAL_TYPE, buildCredentialData, startPackedN8n } from '../dev/fixtures/pair.cts';
import { NODE_TYPE } from '../dev/fixtures/workflows.cts';
import { corpus, listEntries } from '../dev/service/catalogue.cts';
import { openService, requireBuilt } from './fixtures.cts';
import { interleave, showTimes, type Row } from './measure.cts';

const MODELS = 5_000;
const GENERATED = MODELS - corpus.length;
const ROUNDS = 51;

/** Typed by a person. A page of the answer has a hundred models. */
const SEARCHES = {
	'nothing typed': '',
	'a word of every third title': 'video',
	'one model': 'generated-4321/',
	'no model': 'no such thing',
};

interface Built {
	searchModels: (context: object, filter: string) => Promise<unknown>;
}

async function measureTime(act: () => Promise<unknown>) {
	const begun = performance.now();
	await act();
	return performance.now() - begun;
}

/** Measures searches in the package alone, in this process. */
async function measurePackage() {
	const { searchModels } = requireBuilt('./operations/methods') as Built;
	const body = JSON.stringify({ code: 200, data: { models: listEntries(GENERATED) } });
	const context = {
		getCredentials: async () => ({ baseUrl: 'https://media.example', accessToken: 'token' }),
		helpers: { httpRequestWithAuthentication: async () => ({ statusCode: 200, body }) },
	};
	return await interleave(SEARCHES, { rounds: ROUNDS }, (filter) =>
		measureTime(() => searchModels(context, filter)),
	);
}

/**
 * Times a search in the package, and from a person's keystroke to n8n's answer, by the route that its editor uses. Nearly all
 * of the latter is n8n's own: it sets up isolates for expressions, and reads the credential.
 */
export async function bench(): Promise<Row[]> {
	await using service = await openService({ generatedModels: GENERATED, lookupSeconds: 0 });
	await using n8n = await startPackedN8n();
	const data = buildCredentialData(service);
	const { id, name } = await n8n.createCredential({ name: 'Bench', type: CREDENTIAL_TYPE, data });

	const search = (filter: string) =>
		measureTime(() =>
			n8n.request('POST', '/rest/dynamic-node-parameters/resource-locator-results', {
				path: 'parameters.customModel',
				methodName: 'searchModels',
				filter,
				nodeTypeAndVersion: { name: NODE_TYPE, version: 1.1 },
				currentNodeParameters: {
					operation: 'createAndWait',
					model: 'custom',
					customModel: { __rl: true, mode: 'id', value: 'eta-upscale' },
				},
				credentials: { [CREDENTIAL_TYPE]: { id, name } },
			}),
		);

	const times = await interleave(SEARCHES, { rounds: ROUNDS }, search);
	const requests = service.requests.filter(({ path }) => path === '/api/v1/models').length;
	if (requests !== 1) throw new Error(`The list was requested ${requests} times`);
	const inPackage = Object.values(await measurePackage()).flat();
	return [
		showTimes(
			`A search in ${MODELS.toLocaleString('en')} models, from memory, in the package`,
			inPackage,
			{ atMost: 100 },
		),
		...Object.entries(times).map(([words, values]) => showTimes(`Through n8n, ${words}`, values)),
	];
}
