import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Words of the product that are gone, since they had several meanings or a twin, and where one is right. */
const GONE: Array<[word: RegExp, instead: string, except?: RegExp]> = [
	[/\brefus(e|ed|es|al|als|ing)\b/i, 'rejected; throwIf…; build…', /\/(callback|trigger|sleep)\//],
	[/\bdoubts?\b/i, 'unknown, warning'],
	[/\bviolations?\b/i, 'fault'],
	[/\bendsRun\b/, 'endsBeforeWait, appliesToAll'],
	[/\bstateOf|EntryState\b/, 'statusOf, EntryStatus'],
	[/\bis(Open|Pend)\b|\bopenKeys\b/, 'pending'],
	[/\b(plan|plans|planned) =|: Plan\b/, 'creation'],
	[
		/\b(has|is)Failed(ForGood|Outcome)?\(/,
		'isFailedOrTimedOut, isFinalFailure',
		/\/(ledger|output)\//,
	],
	[/\bturns[,:.)]|\btakeTurn\b/, 'lock', /rateLimiter|client/],
	[/\btold\b[:,?]|\.told\b/, 'reported, said'],
	[/\bkept\b[,?:)]|\.kept\b|\belsewhere\b[?:]/, 'stored, nodeContext, earlier'],
	[/\blook-?ups?\b|\blookUp/i, 'read'],
	[/\bdeadline\b|\bfilesBy\b|\bisDue\b/, '…At, …By'],
	[/\btoModel\b|FOR_MODELS?\b|'model' \|/, 'agent'],
	[
		/\b(ANSWER|DETAILS|PROBE|QUIET|CHECKS|SILENT|BROWSER|KEEP|PAYS|LATER|ASK|RAISE|LINKS|SAID)\b =/,
		'what it is',
	],
	[/\.passes\b/, 'isTemporary'],
	[/\banswersBy\b|\bfallsAsleep\b|MAX_TIME_UNKNOWN/, 'looksBy, maySleep, MAX_TIME_UNSEEN'],
	[/\bgives? out\b|\bgiven out\b/, 'output'],
];

const files = execFileSync('git', [
	'ls-files',
	'--cached',
	'--others',
	'--exclude-standard',
	'nodes',
	'credentials',
])
	.toString()
	.split('\n')
	.filter((file) => file.endsWith('.ts'));

it.each(GONE)('%s is gone: say %s', (word, _, except = /^$/) => {
	expect(files.length).toBeGreaterThan(100);
	const found = files
		.filter((file) => !except.test(file))
		.flatMap((file) =>
			readFileSync(file, 'utf8')
				.split('\n')
				.map((line) => `${file}: ${line.trim()}`),
		)
		.filter((line) => word.test(line.slice(line.indexOf(': '))));
	expect(found).toEqual([]);
});
