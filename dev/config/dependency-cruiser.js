/** The plan of the house. CONTRIBUTING.md says what is in each room. */
const house = 'nodes/MediaGeneration';
const product = '^(nodes|credentials)/';
const workshop = '^(dev|bench|probe|test)/';
const facts = 'api/service\\.ts$';

/** The rooms that each room imports, beside `lib`. */
const rooms = {
	editor: ['models/', 'callback/', 'api/', 'host/', 'operations/index\\.ts$'],
	operations: ['run/', 'models/', 'callback/', 'api/', 'host/', 'media/'],
	trigger: ['callback/', 'api/', 'host/'],
	run: ['models/', 'callback/', 'api/', 'host/', 'media/'],
	models: ['media/', facts],
	callback: ['api/(answers|credential|service|task)\\.ts$', 'host/'],
	api: ['host/', 'media/'],
	host: [],
	media: [],
	lib: [],
};

/** The floors of `run`: each imports only floors before it, beside `timetable`. */
const floorsOfRun = [
	['input/'],
	['ledger/'],
	['looks\\.ts$', 'files/'],
	['run\\.ts$'],
	['output/'],
	['send/', 'sleep/', 'watch\\.ts$'],
];

/** @type {(folder: string, allowed: string[]) => string[]} */
const inHouse = (folder, allowed) =>
	[folder, 'lib/', ...allowed].map((path) => `^${house}/${path}`);

/** @type {import('dependency-cruiser').IForbiddenRuleType[]} */
const forbidden = [
	...Object.entries(rooms).map(([name, allowed]) => ({
		name,
		from: { path: `^${house}/${name}/` },
		to: { path: product, pathNot: inHouse(`${name}/`, allowed) },
	})),
	...floorsOfRun.flatMap((names, floor) =>
		names.map((name) => ({
			name: `run/${name}`,
			from: { path: `^${house}/run/${name}` },
			to: {
				path: `^${house}/run/`,
				pathNot: [name, 'timetable\\.ts$', ...floorsOfRun.slice(0, floor).flat()].map(
					(path) => `^${house}/run/${path}`,
				),
			},
		})),
	),
	{
		name: 'room-unknown',
		comment: 'Code of the nodes belongs in one of the rooms.',
		from: {},
		to: {
			path: '^nodes/',
			pathNot: inHouse(`(${Object.keys(rooms).join('|')}|__schema__)/`, [
				'[^/]+\\.node\\.(ts|json)$',
			]),
		},
	},
	{
		name: 'nodes',
		comment: 'A *.node.ts describes what the editor shows, and delegates.',
		from: { path: `^${house}/[^/]+\\.ts$` },
		to: {
			path: product,
			pathNot: inHouse('(editor|operations|trigger)/', ['run/sleep/wake\\.ts$']),
		},
	},
	{
		name: 'operations-stand-alone',
		comment: 'What operations share belongs in sharedFields.ts.',
		from: {
			path: `^${house}/operations/`,
			pathNot: `^${house}/operations/(index|execute)\\.ts$`,
		},
		to: {
			path: `^${house}/operations/`,
			pathNot: `^${house}/operations/(operation|sharedFields)\\.ts$`,
		},
	},
	{
		name: 'credentials',
		comment: 'A credential imports facts, its own rules, and how its key signs.',
		from: { path: '^credentials/' },
		to: {
			path: product,
			pathNot: inHouse('api/credential\\.ts$', [facts, 'callback/scheme\\.ts$']),
		},
	},
	{
		name: 'facts-import-nothing',
		from: { path: `^${house}/${facts}` },
		to: { path: '.' },
	},
	{
		name: 'verification-is-pure',
		comment: 'Verifying a callback needs neither n8n nor the network.',
		from: { path: `^${house}/callback/(scheme|signature|verify)\\.ts$` },
		to: {
			path: [
				'^node_modules/n8n-',
				'^(node:)?(https?|http2|net|tls|dgram|dns|undici)(/|$)',
				`^${house}/api/client\\.ts$`,
			],
			reachable: true,
		},
	},
	{
		name: 'no-runtime-dependency',
		comment: 'n8n has n8n-workflow and zod. The package has no dependency of its own.',
		from: { path: product },
		to: { path: ['node_modules/', workshop], pathNot: 'node_modules/(n8n-workflow|zod)/' },
	},
	{
		name: 'emulator-stands-alone',
		comment: 'No test would notice a mistake in code that both share.',
		from: { path: '^dev/service/' },
		to: { path: workshop, pathNot: '^dev/service/' },
	},
	{
		name: 'dev-is-shared',
		comment: 'bench and test share what is in dev, so dev imports nothing of them.',
		from: { path: '^dev/' },
		to: { path: [product, '^(bench|probe|test)/'] },
	},
	{
		name: 'probe',
		comment: 'The probe asks a real service as the package does, and knows no emulator.',
		from: { path: '^probe/' },
		to: {
			path: [product, workshop],
			pathNot: ['^probe/', '^credentials/', `^${house}/(api|callback|lib|models)/`],
		},
	},
	{
		name: 'suites-stand-alone',
		comment: 'What suites share belongs in dev/fixtures.',
		from: { path: '^(bench|test/[^/]+)/' },
		to: { path: '^(bench|test)/', pathNot: ['^$1/', '^test/media/', '^test/world/'] },
	},
	{
		name: 'packed-package-only',
		comment: 'A test of the sources belongs in test/unit.',
		from: { path: '^(bench|test/(e2e|queue))/' },
		to: { path: product, dependencyTypesNot: ['type-only'] },
	},
	{
		name: 'no-circle',
		from: {},
		to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
	},
];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
	forbidden: forbidden.map((rule) => ({ severity: 'error', ...rule })),
	options: {
		doNotFollow: { path: 'node_modules' },
		tsConfig: { fileName: 'tsconfig.dev.json' },
		// An import of a type is an arrow too.
		tsPreCompilationDeps: true,
	},
};
