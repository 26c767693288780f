import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
import { MediaGenerationTrigger } from '../../nodes/MediaGeneration/MediaGenerationTrigger.node';

/** Words for people and for AI builders, which no workflow stores. */
const WORDS = [
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
		JSON.stringify(part, (key, value: unknown) => (WORDS.includes(key) ? undefined : value)),
	);
	expect(lines).toMatchSnapshot();
});
