import { median } from 'simple-statistics';
import { CREDENTIAL_TYPE, buildCredentialData } from '../dev/fixtures/pair.cts';
import { NODE_TYPE } from '../dev/fixtures/workflows.cts';
import { corpus, listEntries } from '../dev/service/catalogue.cts';
import { openN8n, openService, requireBuilt } from './fixtures.cts';
import { formatMilliseconds, interleave, type Row } from './measure.cts';

export const title = 'Searching the list of models';

const MODELS = 5_000;
const ROUNDS = 51;
const GOAL = 100;

/** What a person types. A page of the answer has a hundred models. */
const SEARCHES = {
	'nothing typed': '',
	'a word of every third title': 'video',
	'one model': 'generated-4321/',
	'no model': 'no such thing',
};

/** What n8n takes where the package has next to nothing to do, but read the credential. */
const FLOOR = 'The same for the fields of a model, from memory, where nothing is searched';

interface Built {
	searchModels: (context: object, filter: string) => Promise<unknown>;
}

/** Measures a search in the package alone, in this process. */
async function measurePackage(): Promise<Row> {
	const { searchModels } = requireBuilt('./operations/task/modelLookup') as Built;
	const models = listEntries(MODELS - corpus.length);
	const body = JSON.stringify({ code: 200, data: { models } });
	const context = {
		getCredentials: async () => ({ baseUrl: 'https://media.example', accessToken: 'token' }),
		helpers: { httpRequestWithAuthentication: async () => ({ statusCode: 200, body }) },
	};
	const times = await interleave(SEARCHES, { rounds: ROUNDS }, async (filter) => {
		const begun = performance.now();
		await searchModels(context, filter);
		return performance.now() - begun;
	});
	const all = Object.values(times).flat();
	return {
		name: `A search in ${MODELS.toLocaleString('en')} models, from memory, in the package`,
		value: median(all),
		unit: 'ms',
		goal: { atMost: GOAL },
		figures: `median of ${all.length}, the slowest ${formatMilliseconds(Math.max(...all))}`,
	};
}

/**
 * How long a search takes in the package, and from a person's keystroke to n8n's answer, by the route that its editor uses. Nearly all
 * of the latter is n8n's own: it sets up isolates for expressions, and reads the credential.
 */
export async function bench(): Promise<Row[]> {
	const generatedModels = MODELS - corpus.length;
	await using service = await openService({ generatedModels, lookupSeconds: 0 });
	await using n8n = await openN8n();
	const data = buildCredentialData(service);
	const { id, name } = await n8n.createCredential({ name: 'Bench', type: CREDENTIAL_TYPE, data });

	const ask = async (route: string, question: object) => {
		const begun = performance.now();
		await n8n.request('POST', `/rest/dynamic-node-parameters/${route}`, {
			path: 'parameters.customModel',
			...question,
			nodeTypeAndVersion: { name: NODE_TYPE, version: 1.1 },
			currentNodeParameters: {
				operation: 'createAndWait',
				model: 'custom',
				customModel: { __rl: true, mode: 'id', value: 'eta-upscale' },
			},
			credentials: { [CREDENTIAL_TYPE]: { id, name } },
		});
		return performance.now() - begun;
	};
	const search = async (filter: string) =>
		await ask('resource-locator-results', { methodName: 'searchModels', filter });
	const loadFields = async () =>
		await ask('resource-mapper-fields', { methodName: 'getModelFields' });

	const first = await search('');
	const times = await interleave(
		{ ...SEARCHES, [FLOOR]: undefined },
		{ rounds: ROUNDS },
		async (filter) => (filter === undefined ? await loadFields() : await search(filter)),
	);
	const requests = service.requests.filter(({ path }) => path === '/api/v1/models').length;
	if (requests !== 1) throw new Error(`The list was requested ${requests} times`);
	const build = (name: keyof typeof times): Row => ({
		name,
		value: median(times[name]),
		unit: 'ms',
		figures: `median of ${ROUNDS}, the slowest ${formatMilliseconds(Math.max(...times[name]))}`,
	});
	return [
		await measurePackage(),
		...(Object.keys(SEARCHES) as Array<keyof typeof SEARCHES>).map((words) => ({
			...build(words),
			name: `Through n8n, ${words}`,
		})),
		build(FLOOR),
		{
			name: 'Through n8n, the first search, which requests the list',
			value: first,
			unit: 'ms',
			figures: 'once',
		},
	];
}
