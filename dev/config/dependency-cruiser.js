/** The plan of the house. Arrows run one way: `*.node.ts` → `editor`, `operations`, `trigger` → `run` → `models`, `callback`, `api` → `host`, `media` → `lib`. */
const house = 'nodes/MediaGeneration';
const rooms = [
	'editor',
	'operations',
	'trigger',
	'run',
	'models',
	'callback',
	'api',
	'host',
	'media',
	'lib',
];
const product = '^(nodes|credentials)/';
const workshop = '^(dev|bench|probe|test)/';

/**
 * A room imports from itself and from what `allowed` matches inside the house.
 * @type {(name: string, allowed: string[], comment: string) => import('dependency-cruiser').IForbiddenRuleType}
 */
const room = (name, allowed, comment) => ({
	name,
	comment,
	from: { path: `^${house}/${name}/` },
	to: {
		path: product,
		pathNot: [name + '/', 'lib/', ...allowed].map((path) => `^${house}/${path}`),
	},
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
	forbidden: [
		room(
			'editor',
			['models/', 'callback/', 'api/', 'host/', 'operations/index\\.ts$'],
			'editor is what the editor shows and asks: the properties of all operations, look-ups, the test of the credential, the text on the canvas. What runs belongs in operations or run.',
		),
		room(
			'operations',
			['run/', 'models/', 'callback/', 'api/', 'host/', 'media/'],
			'An operation is one file: the fields that the editor shows above, what it does below. What operations share with the trigger belongs in callback (receiving) or api (asking the service).',
		),
		{
			name: 'operations-stand-alone',
			comment:
				'An operation takes no field from another. What several operations on a task have belongs in operations/sharedFields.ts, what those that wait have in waitOptions.ts.',
			from: {
				path: `^${house}/operations/`,
				pathNot: `^${house}/operations/(index|execute)\\.ts$`,
			},
			to: {
				path: `^${house}/operations/`,
				pathNot: `^${house}/operations/(operation|sharedFields|waitOptions|searchCatalogue)\\.ts$`,
			},
		},
		room(
			'run',
			['models/', 'callback/', 'api/', 'host/', 'media/'],
			'run is what becomes of items, whichever operation they are of: it is handed a Job. What one operation alone has, and its fields, belongs in operations.',
		),
		room(
			'trigger',
			['callback/', 'api/', 'host/'],
			'The trigger takes callbacks of every model. What it shares with the run belongs in callback or api.',
		),
		room(
			'models',
			['media/', 'api/service\\.ts$'],
			'A model is fields and what they send; of the service it knows the facts alone. What needs both a model and the service belongs in operations or run.',
		),
		room(
			'callback',
			['api/(endpoints|schemas|service|task)\\.ts$', 'host/'],
			'Receiving a callback takes the credential, the facts, the schemas and the Task from api, never its client. What asks the service belongs in trigger or run.',
		),
		room(
			'api',
			['host/', 'media/'],
			'api is the service as code and knows no model, no callback and no node. What combines them belongs in operations, run or trigger.',
		),
		room(
			'host',
			[],
			'host knows n8n beyond its documented API, and no service. What asks the service belongs in api, what waits for tasks in run.',
		),
		room(
			'media',
			[],
			"media reads a file's own bytes. What knows a model or the service belongs there.",
		),
		room(
			'lib',
			[],
			'lib knows neither the node nor the service. What does belongs in the room of what it knows.',
		),
		{
			name: 'nodes',
			comment:
				'A *.node.ts describes what the editor shows and delegates. What runs belongs in operations or trigger, which may import the other rooms. A webhook of a run that sleeps is no operation: it wakes in run.',
			from: { path: `^${house}/[^/]+\\.ts$` },
			to: {
				path: product,
				pathNot: [`^${house}/(editor|operations|trigger)/`, `^${house}/run/wake\\.ts$`],
			},
		},
		{
			name: 'credentials',
			comment:
				'A credential takes only the facts and the endpoints of api, and how its key signs. What sends requests belongs in api/client.ts.',
			from: { path: '^credentials/' },
			to: { path: product, pathNot: `^${house}/(api/(endpoints|service)|callback/scheme)\\.ts$` },
		},
		{
			name: 'service-imports-nothing',
			comment:
				'service.ts is what a fork for another service changes: plain facts. What needs code of others belongs beside it in api.',
			from: { path: `^${house}/api/service\\.ts$` },
			to: { path: '.' },
		},
		{
			name: 'room-unknown',
			comment: `Code of the nodes belongs in one of the rooms of ${house}: ${rooms.join(', ')}. CONTRIBUTING.md says what is in each.`,
			from: {},
			to: {
				path: '^nodes/',
				pathNot: [
					`^${house}/(${rooms.join('|')})/`,
					`^${house}/[^/]+\\.node\\.ts$`,
					`^${house}/__schema__/`,
				],
			},
		},
		{
			name: 'verification-is-pure',
			comment:
				'Verifying a callback needs neither n8n nor the network. What does belongs in callback, trigger or run.',
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
			comment:
				'The package brings no dependency along: n8n has n8n-workflow and zod. What needs another library belongs in dev, bench or test.',
			from: { path: product },
			to: { path: 'node_modules/', pathNot: 'node_modules/(n8n-workflow|zod)/' },
		},
		{
			name: 'no-workshop-in-the-product',
			comment:
				'dev, bench, probe and test are not packed. What the nodes need belongs in one of their own rooms.',
			from: { path: product },
			to: { path: workshop },
		},
		{
			name: 'emulator-stands-alone',
			comment:
				'The emulator shares no code with the package, or a mistake would stand on both sides, and none with the tests. What tests share belongs in dev/fixtures.',
			from: { path: '^dev/service/' },
			to: { path: [product, workshop], pathNot: '^dev/service/' },
		},
		{
			name: 'dev-is-shared',
			comment:
				'bench and test share what is in dev, so dev takes nothing from them, nor from the package. What they share belongs in dev/fixtures.',
			from: { path: '^dev/' },
			to: { path: [product, '^(bench|probe|test)/'] },
		},
		{
			name: 'probe-holds-the-package-to-a-service',
			comment:
				'The probe asks a real service as the package does and knows no emulator. What it expects is what api, callback and the fields of Any Model declare.',
			from: { path: '^probe/' },
			to: {
				path: [product, workshop],
				pathNot: ['^probe/', '^credentials/', `^${house}/(api|callback|lib|models/any)/`],
			},
		},
		{
			name: 'suites-stand-alone',
			comment:
				'Suites and benches import nothing of each other, save the world. What they share belongs in dev/fixtures, media files in test/media.',
			from: { path: '^(bench|test/[^/]+)/' },
			to: { path: '^(bench|test)/', pathNot: ['^$1/', '^test/media/', '^test/world/'] },
		},
		{
			name: 'packed-package-only',
			comment:
				'Benches, end-to-end and queue tests run the packed package, so they take only types from its sources. A test of the sources belongs in test/unit.',
			from: { path: '^(bench|test/(e2e|queue))/' },
			to: { path: product, dependencyTypesNot: ['type-only'] },
		},
		{
			name: 'one-language',
			comment:
				'.ts is what runs inside n8n and is linted by its rules; .cts is what runs in Node. Name this file .cts.',
			from: {},
			to: { path: '^(dev|bench|probe)/.+\\.(js|ts)$' },
		},
		{
			name: 'no-circle',
			comment:
				'Files that import each other are one file, or share something that belongs in a third.',
			from: { path: product },
			to: { circular: true },
		},
		{
			name: 'no-circle-at-run-time',
			comment:
				'Files that need each other to run are one file, or share something that belongs in a third.',
			from: { path: workshop },
			to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
		},
	].map((rule) => ({ severity: 'error', ...rule })),
	options: {
		doNotFollow: { path: 'node_modules' },
		tsConfig: { fileName: 'tsconfig.dev.json' },
		// An import of a type is an arrow too.
		tsPreCompilationDeps: true,
	},
};
