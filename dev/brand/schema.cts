import { z } from 'zod/v4';
import { ENDPOINTS } from '../../nodes/MediaGeneration/api/service.ts';

/** The models that have fields of their own, by their identifiers here. */
export const MODELS = [
	'alpha-3.0/motion-control',
	'beta2/image-edit',
	'delta-1-1/reference-to-video',
	'delta/reference-to-video',
	'gamma-v6/reference-to-video',
] as const;

const text = (pattern: RegExp, description: string) =>
	z.string().regex(pattern, description).describe(description);

const webPage = (description: string) =>
	text(/^https:\/\/[^\s/"'`\\]+\/?[^\s"'`\\]*$/, description);

const model = z
	.strictObject({
		id: text(
			/^[\w.:-]+(\/[\w.:-]+)*$/,
			'The identifier that the service has for this model, such as acme/motion-2',
		),
		name: text(
			/^[A-Z0-9][\w.-]*( [\w.-]+)*$/,
			'Its name in the list of models, such as Acme Motion 2: words of letters and digits, the first with a capital',
		),
	})
	.nullable();

const motionControl = model.describe('A model that makes a figure copy the movements in a video');
const imageEdit = model.describe('A model that changes an image');
const referenceToVideo = model.describe('A model that makes a video of reference images');
const withSeed = model.describe('The same with a seed');
const namedReferences = model.describe('A model that makes a video of named reference images');

const servicePath = (example: string) =>
	text(
		/^(\/[\w.~-]+)+$/,
		`A path of the service in place of ${example}, without a query`,
	).optional();

const paths = z
	.strictObject({
		createTaskPath: servicePath(ENDPOINTS.createTaskPath.path),
		taskDetailsPath: text(
			/^(\/[\w.~-]+)+\?taskId=\{taskId\}$/,
			`A path of the service in place of ${ENDPOINTS.taskDetailsPath.path}, which ends so`,
		).optional(),
		creditsPath: servicePath(ENDPOINTS.creditsPath.path),
		streamUploadPath: servicePath(ENDPOINTS.streamUploadPath.path),
		urlUploadPath: servicePath(ENDPOINTS.urlUploadPath.path),
		modelsPath: servicePath(
			`${ENDPOINTS.modelsPath.path}, below which a model's schema is, at {model}/schema`,
		),
		downloadUrlPath: servicePath(ENDPOINTS.downloadUrlPath.path),
	})
	.describe("Paths of the service that differ. Those that aren't given stay as they are");

const base = text(
	/^[a-z][a-z0-9]*(-[a-z0-9]+)*(?<!tool|trigger)$/,
	'The name in lower case with hyphens, such as acme-media. It begins with a letter, and does not end in tool or trigger, words that n8n appends itself. File names, folders, classes, types of nodes, environment variables and the resume path are made of it',
);

const author = z.strictObject({
	name: text(/^[^"'`\\<>]*\S$/, 'Who publishes the package'),
	email: z.email('A mail address').describe('A mail address for reports'),
});

const icons = z
	.strictObject({
		light: text(/\.svg$/, 'An SVG file for light backgrounds'),
		dark: text(/\.svg$/, 'An SVG file for dark backgrounds'),
	})
	.describe('Paths of pictures, from the folder of this file. By default those of this package');

const documentation = z
	.strictObject({
		credential: webPage('A page about the credential').optional(),
		nodes: webPage('A page about the nodes').optional(),
	})
	.describe('Pages that n8n links to. By default the README in the repository');

/** What `npm run brand` reads. `brand.schema.json` is made of it. */
const brandSchema = z.strictObject({
	$schema: z.string().optional(),
	name: text(
		/^[A-Z0-9][A-Za-z0-9]*([ .-][A-Za-z0-9]+)*(?<! Tool| Trigger)$/,
		"The service's name as the editor shows it, such as Acme Media: letters and digits, with a space, dot or hyphen between words",
	),
	base,
	package: text(
		/^(@[a-z0-9][a-z0-9._-]*\/)?n8n-nodes-[a-z0-9][a-z0-9._-]*$/,
		'The name at npm: n8n-nodes-… or @scope/n8n-nodes-…, in lower case',
	),
	description: z
		.string()
		.min(1)
		.describe('One sentence for npm. By default one is made of the name')
		.optional(),
	author,
	copyright: text(
		/^\d{4}(-\d{4})? [^"'`\\]*\S$/,
		'Year and holder for the license, such as 2026 Acme Inc.',
	),
	repository: text(
		/^https:\/\/github\.com\/[\w.-]+\/[\w.-]+(?<!\.git)$/,
		'The repository, https://github.com/owner/name, from which n8n wants packages published',
	),
	credential: text(
		/^[a-z][A-Za-z0-9]*Api$/,
		"The credential's type, which workflows store: letters and digits, and Api at the end, such as acmeMediaApi",
	),
	baseUrl: text(
		/^https:\/\/[^\s/"'`\\?#]+(\/[^\s"'`\\?#]*[^\s/"'`\\?#])?$/,
		'The address of the service, https://…, without a slash at the end. It is the default of the Base URL',
	),
	documentation: documentation.optional(),
	icons: icons.optional(),
	models: z
		.strictObject({
			'alpha-3.0/motion-control': motionControl,
			'beta2/image-edit': imageEdit,
			'delta-1-1/reference-to-video': referenceToVideo,
			'delta/reference-to-video': withSeed,
			'gamma-v6/reference-to-video': namedReferences,
		} satisfies Record<(typeof MODELS)[number], typeof model>)
		.describe(
			'What the service calls the models that have fields of their own. null leaves the made-up name, until you take the model out',
		),
	paths: paths.optional(),
});

export type Brand = z.infer<typeof brandSchema>;

/** Writes words with hyphens or the like as a name in code. */
export const toCamel = (words: string): string =>
	words.replace(/[^A-Za-z0-9]+(.)/g, (_, letter: string) => letter.toUpperCase());

/** What the entries must be together. Returns what is wrong, with the entry's name in front. */
function listContradictions({ base: words, credential, models, paths: given }: Brand): string[] {
	const named = Object.values(models).flatMap((one) => one ?? []);
	const isTwice = (key: 'id' | 'name') =>
		new Set(named.map((one) => one[key].toLowerCase().replace(/[^a-z0-9]/g, ''))).size <
		named.length;
	const changed = Object.values(given ?? {});
	return [
		toCamel(words) === credential && `credential: ${credential} is the type of the node too`,
		named.some(({ id }) => id === 'any') && 'models: any stands for all models of the service',
		isTwice('id') && 'models: two identifiers are alike',
		isTwice('name') && 'models: two names are alike',
		new Set(changed).size < changed.length && 'paths: two paths are alike',
	].flatMap((found) => found || []);
}

/** Says what is wrong with an entry. What it must be is its description. */
function explain({ path, message, code, ...issue }: z.core.$ZodIssue): string {
	const entry = path.join('.') || 'the file';
	if (code === 'unrecognized_keys')
		return `${entry}: there is no entry ${(issue as { keys: string[] }).keys.join(', ')}`;
	if (issue.input === undefined && code === 'invalid_type') return `${entry} is missing`;
	return `${entry}: ${message}`;
}

/**
 * Reads a brand.
 * @throws {Error} that lists each entry which is missing or malformed
 */
export function parseBrand(value: unknown): Brand {
	const parsed = brandSchema.safeParse(value, { reportInput: true });
	const wrong = parsed.success ? listContradictions(parsed.data) : parsed.error.issues.map(explain);
	if (!parsed.success || wrong.length > 0)
		throw new Error(`Nothing was written. Correct these entries:\n- ${wrong.join('\n- ')}`);
	return parsed.data;
}

/** Makes the schema for editors. */
export const buildJsonSchema = () => z.toJSONSchema(brandSchema);
