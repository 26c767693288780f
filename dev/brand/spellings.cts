import { ENDPOINTS } from '../../nodes/MediaGeneration/api/service.ts';
import { CREDENTIAL, NODE_NAME, PACKAGE, SLUG } from '../../nodes/MediaGeneration/lib/brand.ts';
import { models } from '../../nodes/MediaGeneration/models/index.ts';
import { MODELS, toCamel, type Brand } from './schema.cts';

/** What is written here, and what takes its place. */
type Spelling = [here: string, there: string];

const REPOSITORY = `https://github.com/${PACKAGE}/${PACKAGE}`;

const capitalize = (word: string) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
const toPascal = (base: string) => capitalize(toCamel(base));
const toConstant = (base: string) => base.replaceAll('-', '_').toUpperCase();

/** The classes and the fixture that are named after the brand. */
export const listIdentifiers = ({ base, credential }: Brand) => [
	toCamel(base),
	toPascal(base),
	`${toPascal(base)}Trigger`,
	capitalize(credential),
];

const listNames = ({ name, base, credential, package: packageName }: Brand): Spelling[] => [
	[PACKAGE, packageName],
	[SLUG, base],
	[toConstant(SLUG), toConstant(base)],
	[toPascal(SLUG), toPascal(base)],
	[toCamel(SLUG), toCamel(base)],
	[CREDENTIAL, credential],
	[capitalize(CREDENTIAL), capitalize(credential)],
	[NODE_NAME, name],
	[NODE_NAME.toLowerCase(), name.toLowerCase()],
	[NODE_NAME.toUpperCase(), name.toUpperCase()],
	[`${NODE_NAME} API`, name.endsWith(' API') ? name : `${name} API`],
	// n8n makes a tool's name of the node's. The key is one of an execution's custom data.
	[NODE_NAME.replace(' ', '_'), name.replace(/[^\w-]+/g, '_')],
	[`${NODE_NAME.replace(' ', '_')}_tasks`, `${name.replace(/\W+/g, '_')}_tasks`],
];

function listOwner({ author, repository, documentation = {} }: Brand): Spelling[] {
	const { credential = `${repository}#credential`, nodes = `${repository}#readme` } = documentation;
	return [
		[REPOSITORY, repository],
		[`${REPOSITORY}#credential`, credential],
		[`${REPOSITORY}#readme`, nodes],
		[`${PACKAGE} contributors`, author.name],
		[`maintainers@${PACKAGE}.example`, author.email],
	];
}

/** Identifier, name, and the name of file and constant. */
const listModels = (brand: Brand, isTaken: (name: string) => boolean): Spelling[] =>
	MODELS.flatMap((id) => {
		const there = brand.models[id];
		if (!there) return [];
		const name = models.find((model) => model.id === id)?.name ?? '';
		let constant = toCamel(there.id).replace(/^\d/, 'model$&');
		constant = `${constant.charAt(0).toLowerCase()}${constant.slice(1)}`;
		while (isTaken(constant)) constant += 'Model';
		return [
			[id, there.id],
			[name, there.name],
			[toCamel(id.replace('.0', '')), constant],
		];
	});

/** The last two parts of a path. Documents of models may have the rest in the server's address. */
const cutPath = (path: string) => path.split('/').slice(-2).join('/').replace(/^\/?/, '/');

function listPaths({ paths = {} }: Brand): Spelling[] {
	const pairs = Object.entries(paths).map(([name, path]): Spelling => {
		const [here = ''] = ENDPOINTS[name as keyof typeof ENDPOINTS].path.split('?');
		return [here, path.split('?')[0] ?? ''];
	});
	const toPointer = (path: string) => path.replaceAll('/', '~1');
	const toPattern = (path: string) => cutPath(path).replace(/[/.]/g, '\\$&');
	const created = pairs.filter(([here]) => here === ENDPOINTS.createTaskPath.path);
	return [
		...pairs,
		...[cutPath, toPointer, toPattern].flatMap((spell) =>
			created.map(([here, there]): Spelling => [spell(here), spell(there)]),
		),
	];
}

/** Spells what is said of this package as another's brand has it. */
export class Speller {
	private readonly there: Map<string, string>;

	private readonly here: RegExp;

	/** @param isTaken whether the code uses a name already */
	constructor(brand: Brand, isTaken: (name: string) => boolean = () => false) {
		this.there = new Map([
			...listNames(brand),
			...listOwner(brand),
			...listModels(brand, isTaken),
			...listPaths(brand),
		]);
		// The longest first, and all in one go, so that nothing is replaced twice.
		const longest = [...this.there.keys()].sort((one, other) => other.length - one.length);
		const escaped = longest.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
		this.here = new RegExp(escaped.join('|'), 'g');
	}

	spell(text: string): string {
		return text.replace(this.here, (found) => this.there.get(found) ?? found);
	}

	/** Finds the name of this package in a spelling that is not among those. */
	findLeftOver(text: string): string | undefined {
		const words = SLUG.replace('-', '[\\s_-]*');
		return new RegExp(`.*${words}.*`, 'i').exec(text.replace(this.here, ''))?.[0];
	}
}
