/**
 * What this process remembers. `most` is how many entries a store holds, or how much they weigh together.
 * `time` is how many milliseconds an entry stays; absent: as long as there is room. Stores that decide
 * about a payment or a wake have no time, because n8n may let an execution wait for hours. Beside these
 * stores there are only `WeakMap`s by objects of n8n, whose entries end with the objects.
 */
export const STORES = {
	/** What services answered about models, for all editors and runs. In characters. */
	catalogue: { most: 32_000_000, time: 600_000 },
	/** Why the service gave no document of a model. */
	missingDocuments: { most: 200, time: 60_000 },
	/** What keeps callbacks from the address of resume URLs. */
	obstacles: { most: 1_000, time: 60_000 },
	/** What nodes have logged, by subject. */
	warnings: { most: 1_000, time: 60_000 },
	/** The rates of accounts. */
	creationRates: { most: 1_000 },
	readRates: { most: 1_000 },
	/** Triggers, and the events that each has emitted. n8n loads and saves these with each callback. */
	triggers: { most: 1_000 },
	events: { most: 1_000 },
	/** Callbacks that triggers are processing. */
	callbacks: { most: 1_000 },
	/** Runs, weighed by their items. */
	runs: { most: 20_000 },
	/** What the calls of a tool share if it has no execution. Calls within this time count as one run. */
	tools: { most: 10_000, time: 3_600_000 },
	/** Sleeps. */
	naps: { most: 10_000 },
	/** How tasks of sleeps ended, as webhooks have seen it. In characters. */
	ends: { most: 32_000_000 },
} as const satisfies Record<string, { most: number; time?: number }>;

/** Weighs a JSON value in characters. Its place in the store counts too. */
export const weigh = (value: unknown): number => 1_000 + (JSON.stringify(value)?.length ?? 0);

interface Stored<V> {
	value: V;
	weight: number;
	/** In milliseconds since 1970. */
	forgottenAt: number;
}

/** A store of this process. Once it is full, it forgets its oldest entries. */
export class Memory<V> {
	private readonly entries = new Map<string, Stored<V>>();
	private weight = 0;

	/** @param mustStay whether an entry must not be forgotten now, though there is no room */
	constructor(
		private readonly name: keyof typeof STORES,
		private readonly mustStay: (value: V) => boolean = () => false,
	) {}

	get(key: string): V | undefined {
		const entry = this.entries.get(key);
		return entry && entry.forgottenAt > Date.now() ? entry.value : undefined;
	}

	keys(): IterableIterator<string> {
		return this.entries.keys();
	}

	/** Sets an entry, which becomes the newest one. @param weight what it counts toward the most */
	set(key: string, value: V, weight = 1): void {
		this.delete(key);
		const { most, time = Infinity }: { most: number; time?: number } = STORES[this.name];
		const now = Date.now();
		this.entries.set(key, { value, weight, forgottenAt: now + time });
		this.weight += weight;
		for (const [oldest, entry] of this.entries) {
			if (oldest === key || (this.weight <= most && entry.forgottenAt > now)) break;
			if (!this.mustStay(entry.value)) this.delete(oldest);
		}
	}

	delete(key: string): void {
		this.weight -= this.entries.get(key)?.weight ?? 0;
		this.entries.delete(key);
	}
}
