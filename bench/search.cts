import { median } from 'simple-statistics';
import type { INodeListSearchResult } from 'n8n-workflow';
import { CREDENTIAL_TYPE, buildCredentialData } from '../dev/fixtures/pair.cts';
import { NODE_TYPE } from '../dev/fixtures/workflows.cts';
import { corpus } from '../dev/service/catalogue.cts';
import { openN8n, openService } from './fixtures.cts';
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

/**
 * Milliseconds from a person's keystroke to n8n's answer, by the route that its editor uses, once the list is in memory. Most of them
 * are n8n's own: it reads the credential, and sets up an isolate for expressions.
 */
export async function bench(): Promise<Row[]> {
	const generatedModels = MODELS - corpus.length;
	await using service = await openService({ generatedModels, lookupSeconds: 0 });
	await using n8n = await openN8n();
	const data = buildCredentialData(service);
	const { id, name } = await n8n.createCredential({ name: 'Bench', type: CREDENTIAL_TYPE, data });

	const search = async (filter: string) => {
		const begun = performance.now();
		const { results } = await n8n.request<INodeListSearchResult>(
			'POST',
			'/rest/dynamic-node-parameters/resource-locator-results',
			{
				path: 'parameters.customModel',
				methodName: 'searchModels',
				filter,
				nodeTypeAndVersion: { name: NODE_TYPE, version: 1.1 },
				currentNodeParameters: { operation: 'createAndWait', model: 'custom' },
				credentials: { [CREDENTIAL_TYPE]: { id, name } },
			},
		);
		return { time: performance.now() - begun, found: results.length };
	};

	const first = await search('');
	const answers = await interleave(SEARCHES, { rounds: ROUNDS }, search);
	const requests = service.requests.filter(({ path }) => path === '/api/v1/models').length;
	if (requests !== 1) throw new Error(`The list was requested ${requests} times`);
	return Object.entries(answers).map(([words, list]) => {
		const times = list.map(({ time }) => time);
		return {
			name: `A search in ${MODELS.toLocaleString('en')} models, ${words}`,
			value: median(times),
			unit: 'ms',
			goal: { atMost: GOAL },
			figures: `median of ${ROUNDS}, the slowest ${formatMilliseconds(Math.max(...times))}, ${list[0]?.found} models on the first page; the first of all searches, which reads the list, ${formatMilliseconds(first.time)}`,
		};
	});
}
