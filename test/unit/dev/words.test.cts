import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** What to say in place of a word that had several meanings, or had a synonym; and the files where the word is right. */
type Row = [word: RegExp, instead: string, except?: RegExp];

/** Words that are gone everywhere. */
const GONE: Row[] = [
	[/\bdoubts?\b/i, 'unknown, warning'],
	[/\bviolations?\b/i, 'fault'],
	[/\bendsRun\b/, 'endsBeforeWait, appliesToAll'],
	[/\bstateOf|EntryState\b/, 'statusOf, EntryStatus'],
	[/\bis(Open|Pend)\b|\bopenKeys\b/, 'pending'],
	[
		/\b(has|is)Failed(ForGood|Outcome)?\(/,
		'isFailedOrTimedOut, isFinalFailure',
		/\/(ledger|output)\//,
	],
	[/\blook-?ups?\b|\blookUp/i, 'read, ask'],
	[/\bdeadline\b|\bfilesBy\b|\bisDue\b/, '…At, …By'],
	[/\btoModel\b|FOR_MODELS?\b|'model' \|/, 'agent'],
	[/\.passes\b/, 'isTemporary'],
	[/\banswersBy\b|\bfallsAsleep\b|MAX_TIME_UNKNOWN/, 'looksBy, maySleep, MAX_TIME_UNSEEN'],
	[/\bpark(s|ed|ing)?\b/i, 'sleep, asleep'],
	[/\bcolour/i, 'color'],
];

/** Words that are gone from the product. Tests and the workshop use some of them for other things. */
const GONE_FROM_PRODUCT: Row[] = [
	[/\brefus(e|ed|es|al|als|ing)\b/i, 'rejected; throwIf…; build…', /\/(callback|trigger|sleep)\//],
	[/\b(plan|plans|planned) =|: Plan\b/, 'creation'],
	[/\bturns[,:.)]|\btakeTurn\b/, 'lock', /rateLimiter|client/],
	[/\btold\b[:,?]|\.told\b/, 'reported, said'],
	[/\bkept\b[,?:)]|\.kept\b|\belsewhere\b[?:]/, 'stored, nodeContext, earlier'],
	[
		/\b(ANSWER|DETAILS|PROBE|QUIET|CHECKS|SILENT|BROWSER|KEEP|PAYS|LATER|ASK|RAISE|LINKS|SAID)\b =/,
		'a name for what the constant holds',
	],
	[/\bgives? out\b|\bgiven out\b/, 'output'],
];

const PRODUCT = ['nodes', 'credentials'];
const ALL = [...PRODUCT, 'test', 'dev', 'probe', 'bench'];

const listFiles = (folders: string[]) =>
	execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...folders])
		.toString()
		.split('\n')
		.filter((file) => /\.(ts|cts|js)$/.test(file) && !file.endsWith('words.test.cts'));

const rows = [
	...GONE.map((row) => ({ row, files: listFiles(ALL) })),
	...GONE_FROM_PRODUCT.map((row) => ({ row, files: listFiles(PRODUCT) })),
];

it.each(rows)('$row.0 is gone: say $row.1', ({ row: [word, , except = /^$/], files }) => {
	expect(files.length).toBeGreaterThan(100);
	const lines = files
		.filter((file) => !except.test(file))
		.flatMap((file) =>
			readFileSync(file, 'utf8')
				.split('\n')
				.map((line) => `${file}: ${line.trim()}`),
		)
		.filter((line) => word.test(line.slice(line.indexOf(': '))));
	expect(lines).toEqual([]);
});
