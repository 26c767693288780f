import { operations } from '../../dev/fixtures/operations.cts';
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
import { MediaGenerationTrigger } from '../../nodes/MediaGeneration/MediaGenerationTrigger.node';
import * as brand from '../../nodes/MediaGeneration/lib/brand';
import { name } from '../../package.json';

/** Texts for people and for AI builders, which no workflow stores. */
const TEXTS = [
	'displayName',
	'description',
	'placeholder',
	'hint',
	'hints',
	'action',
	'builderHint',
];

it.each([
	['action node', new MediaGeneration().description],
	['trigger', new MediaGenerationTrigger().description],
	['credential', new MediaGenerationApi()],
])('workflows find all that they store of the %s', (_, { properties, ...more }) => {
	const lines = [more, ...properties].map((part) =>
		JSON.stringify(part, (key, value: unknown) => (TEXTS.includes(key) ? undefined : value)),
	);
	expect(lines).toMatchSnapshot();
});

/** Lists the fields of an output, each with its type. */
const listFields = (place: string, value: unknown): string[] =>
	typeof value === 'object'
		? Object.entries(value as object).flatMap(([key, part]) => listFields(`${place}, ${key}`, part))
		: [`${place} is a ${typeof value}`];

it('later nodes find each field of an output', () => {
	const outputs = Object.entries(operations);
	expect(outputs.flatMap(([one, { output }]) => listFields(one, output))).toMatchSnapshot();
});

it('the names of the brand are those that nodes and credential declare, where n8n wants literals', () => {
	const [node, trigger] = [new MediaGeneration(), new MediaGenerationTrigger()];
	expect(brand).toEqual({
		PACKAGE: name,
		NODE_NAME: node.description.displayName,
		TRIGGER_NAME: trigger.description.displayName,
		CREDENTIAL: new MediaGenerationApi().name,
		SLUG: node.description.webhooks?.[0]?.path,
	});
});
