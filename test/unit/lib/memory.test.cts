import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { STORES, Memory as ActualMemory } from '../../../nodes/MediaGeneration/lib/memory';

type Name = keyof typeof STORES;
type Actual = typeof import('../../../nodes/MediaGeneration/lib/memory');

/** The stores that the product has made, by name. The events of a trigger are made with it. */
const mockStores = new Map<string, ActualMemory<unknown>>();

jest.mock('../../../nodes/MediaGeneration/lib/memory', () => {
	const actual = jest.requireActual<Actual>('../../../nodes/MediaGeneration/lib/memory');
	class Memory extends actual.Memory<unknown> {
		constructor(...args: ConstructorParameters<Actual['Memory']>) {
			super(...args);
			mockStores.set(args[0], this);
		}
	}
	return { ...actual, Memory };
});

const root = path.resolve(__dirname, '../../../nodes/MediaGeneration');
const files = readdirSync(root, { encoding: 'utf8', recursive: true })
	.filter((file) => file.endsWith('.ts'))
	.map((file) => path.join(root, file));

/** What stores hold, as far as they ask whether it is under way. */
const build = (isUnderway: boolean) => ({
	isBusy: () => isUnderway,
	underway: isUnderway ? 1 : 0,
	getPhase: () => (isUnderway ? 'delivering' : 'waiting'),
	deref: () => ({ writableEnded: !isUnderway }),
});

/** What a payment or a wake hangs on. What is under way is seen at the first ones. */
const HELD: Name[] = ['creationRates', 'readRates', 'callbacks', 'runs', 'naps'];
const SURE: Name[] = [...HELD, 'triggers', 'events'];

beforeAll(async () => {
	for (const file of files) await import(file);
	mockStores.set('events', new ActualMemory('events'));
});
afterEach(() => jest.restoreAllMocks());

it('nothing at the top of a file remembers beside the stores', () => {
	const found = files.flatMap((file) => {
		const source = readFileSync(file, 'utf8');
		return [
			...source.matchAll(/^(?:export )?(?:let|const) (\w+)[^;\n]* new (?:Map|Set)\b[^;\n]*\(\);/gm),
		]
			.concat([...source.matchAll(/^(?:export )?let (\w+)/gm)])
			.map(([, name]) => `${path.basename(file)} ${name}`);
	});
	expect(found).toEqual([]);
	expect([...mockStores.keys()].sort()).toEqual(Object.keys(STORES).sort());
});

it.each(Object.keys(STORES) as Name[])('%s are bounded, the oldest are forgotten first', (name) => {
	const store = mockStores.get(name) as ActualMemory<unknown>;
	const { most } = STORES[name];
	const weight = most > 100_000 ? most / 1_024 : 1;
	const room = most / weight;
	for (let index = 0; index < room * 1.5; index++) store.set(`key ${index}`, build(false), weight);
	expect([...store.keys()]).toHaveLength(room);
	expect(store.get('key 0')).toBeUndefined();
	expect(store.get(`key ${room * 1.5 - 1}`)).toBeDefined();
});

it.each(SURE)('of %s, none is forgotten for its age', (name) => {
	const store = mockStores.get(name) as ActualMemory<unknown>;
	store.set('old', build(false));
	const later = Date.now() + 30 * 24 * 3_600_000;
	jest.spyOn(Date, 'now').mockReturnValue(later);
	store.set('next', build(false));
	expect(store.get('old')).toBeDefined();
});

it.each(HELD)('of %s, none that is under way is forgotten', (name) => {
	const store = mockStores.get(name) as ActualMemory<unknown>;
	const held = build(true);
	store.set('held', held);
	for (let index = 0; index < STORES[name].most; index++) store.set(`new ${index}`, build(false));
	expect([store.get('held'), [...store.keys()].length]).toEqual([held, STORES[name].most]);
});

it('what has a time is not returned after that time, and is dropped once something else comes', () => {
	const store = new ActualMemory<number>('obstacles');
	const now = jest.spyOn(Date, 'now').mockReturnValue(0);
	store.set('first', 1);
	now.mockReturnValue(STORES.obstacles.time - 1);
	store.set('second', 2);
	expect(store.get('first')).toBe(1);
	now.mockReturnValue(STORES.obstacles.time);
	expect(store.get('first')).toBeUndefined();
	store.set('second', 3);
	expect([...store.keys()]).toEqual(['second']);
});

it('a single value may weigh more than there is room for', () => {
	const store = new ActualMemory<number>('ends');
	store.set('small', 1);
	store.set('large', 2, 2 * STORES.ends.most);
	expect([...store.keys()]).toEqual(['large']);
});
