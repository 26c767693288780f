const MINUTE = 60_000;
const MEGABYTE = 1024 * 1024;

/**
 * What this process remembers: the most entries, or what they weigh together, and for how many
 * milliseconds; without a time, as long as there is room. What a payment or a wake hangs on has no
 * time, because n8n may let an execution wait for hours. Beside this there are only `WeakMap`s by
 * objects of n8n, which end with those.
 */
export const KEPT = {
	/** What services answered about models, for all editors and runs. In characters. */
	catalogue: { most: 32 * MEGABYTE, time: 10 * MINUTE },
	/** Schemas that runs do without, because the service didn't give them. */
	missingSchemas: { most: 200, time: MINUTE },
	/** Who answers at the address of resume URLs. */
	answerers: { most: 1_000, time: MINUTE },
	/** What nodes have logged, by subject. */
	warnings: { most: 1_000, time: MINUTE },
	/** The rates of accounts. */
	creationRates: { most: 1_000 },
	readRates: { most: 1_000 },
	/** Triggers, and the events that each has emitted. n8n loads and saves these with each callback. */
	triggers: { most: 1_000 },
	events: { most: 1_000 },
	/** Callbacks that triggers are processing. */
	callbacks: { most: 1_000 },
	/** Runs, by their items. */
	runs: { most: 20_000 },
	/** What the calls of a tool share that has no execution. */
	tools: { most: 10_000 },
	/** Sleeps, and the ends of their tasks that webhooks have seen. In characters. */
	naps: { most: 10_000 },
	ends: { most: 32 * MEGABYTE },
} as const satisfies Record<string, { most: number; time?: number }>;

/** Weighs a JSON value in characters. Its place in the store counts too. */
export const weigh = (value: unknown): number => 1_000 + (JSON.stringify(value)?.length ?? 0);

interface Entry<V> {
	value: V;
	weight: number;
	/** In milliseconds since 1970. */
	until: number;
}

/** A store of this process. Once it is full, it forgets its oldest entries. */
export class Memory<V> {
	private readonly entries = new Map<string, Entry<V>>();
	private readonly kept: { most: number; time?: number };
	private weight = 0;

	/** @param isUnderway whether an entry must not be forgotten now, though there is no room */
	constructor(
		name: keyof typeof KEPT,
		private readonly isUnderway: (value: V) => boolean = () => false,
	) {
		this.kept = KEPT[name];
	}

	get(key: string): V | undefined {
		const entry = this.entries.get(key);
		return entry && entry.until > Date.now() ? entry.value : undefined;
	}

	keys(): IterableIterator<string> {
		return this.entries.keys();
	}

	/** Sets an entry, which becomes the newest one. @param weight its part of the most */
	set(key: string, value: V, weight = 1): void {
		this.delete(key);
		const { most, time = Infinity } = this.kept;
		this.entries.set(key, { value, weight, until: Date.now() + time });
		this.weight += weight;
		for (const [oldest, entry] of this.entries) {
			if (oldest === key || (this.weight <= most && entry.until > Date.now())) break;
			if (!this.isUnderway(entry.value)) this.delete(oldest);
		}
	}

	delete(key: string): void {
		this.weight -= this.entries.get(key)?.weight ?? 0;
		this.entries.delete(key);
	}
}
