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

/** What n8n takes for an answer that the package has at once. */
const FLOOR = 'n8n alone, asked for the fields of no model';

interface Built {
	searchModels: (context: object, filter: string) => Promise<unknown>;
}

/** Measures a search in this process, without n8n. */
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
		name: 'What of it runs in this package',
		value: median(all),
		unit: 'ms',
		figures: `median of ${all.length} without n8n, the slowest ${formatMilliseconds(Math.max(...all))}`,
	};
}

/**
 * Milliseconds from a person's keystroke to n8n's answer, by the route that its editor uses, once the list is in memory. Most of them
 * are n8n's own: it sets up isolates for expressions, and reads the credential.
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
			currentNodeParameters: { operation: 'createAndWait', model: 'custom' },
			credentials: { [CREDENTIAL_TYPE]: { id, name } },
		});
		return performance.now() - begun;
	};
	const search = async (filter: string) =>
		await ask('resource-locator-results', { methodName: 'searchModels', filter });
	const askNothing = async () =>
		await ask('resource-mapper-fields', { methodName: 'getModelFields' });

	const first = await search('');
	const times = await interleave(
		{ ...SEARCHES, [FLOOR]: undefined },
		{ rounds: ROUNDS },
		async (filter) => (filter === undefined ? await askNothing() : await search(filter)),
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
		...(Object.keys(SEARCHES) as Array<keyof typeof SEARCHES>).map((words) => ({
			...build(words),
			name: `A search in ${MODELS.toLocaleString('en')} models, ${words}`,
			goal: { atMost: GOAL },
		})),
		await measurePackage(),
		build(FLOOR),
		{
			name: 'The first search, which reads the list',
			value: first,
			unit: 'ms',
			figures: 'once',
		},
	];
}
