/**
 * What this process remembers, by the names of the stores. `most` is how many values a store holds, or how
 * much they weigh together. `time` is how many milliseconds a value stays; absent: as long as there is
 * room. Stores that decide about money, or about what continues, have no time: what asks them may wait
 * for hours. Only `tools` has one, because nothing says when the calls of a tool have ended. Beside these stores there are only `WeakMap`s by objects of n8n, whose values end with the
 * objects.
 */
export const STORES = {
	/** What services answered about models. In characters. */
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
	/** A store of events for each receiver, and what such a store holds. */
	triggers: { most: 1_000 },
	events: { most: 1_000 },
	/** Responses that aren't sent yet. */
	callbacks: { most: 1_000 },
	/** Weighed by the number of items. */
	runs: { most: 20_000 },
	/** Calls that nothing else connects count as one while they come within this time. */
	tools: { most: 10_000, time: 3_600_000 },
	naps: { most: 10_000 },
	/** In characters. */
	ends: { most: 32_000_000 },
} as const satisfies Record<string, { most: number; time?: number }>;

/** Weighs a JSON value in characters. What the store needs to hold the value counts too. */
export const weigh = (value: unknown): number => 1_000 + (JSON.stringify(value)?.length ?? 0);

interface Stored<V> {
	value: V;
	weight: number;
	/** In milliseconds since 1970. */
	forgottenAt: number;
}

/** A store of this process. A full store forgets its oldest values. */
export class Memory<V> {
	private readonly stored = new Map<string, Stored<V>>();
	private weight = 0;

	/** @param mustStay whether a value must not be forgotten now, though there is no room */
	constructor(
		private readonly name: keyof typeof STORES,
		private readonly mustStay: (value: V) => boolean = () => false,
	) {}

	get(key: string): V | undefined {
		const stored = this.stored.get(key);
		return stored && stored.forgottenAt > Date.now() ? stored.value : undefined;
	}

	keys(): IterableIterator<string> {
		return this.stored.keys();
	}

	/** Stores a value, which becomes the newest. @param weight what the value counts toward `most` */
	set(key: string, value: V, weight = 1): void {
		this.delete(key);
		const { most, time = Infinity }: { most: number; time?: number } = STORES[this.name];
		const now = Date.now();
		this.stored.set(key, { value, weight, forgottenAt: now + time });
		this.weight += weight;
		for (const [oldestKey, oldest] of this.stored) {
			if (oldestKey === key || (this.weight <= most && oldest.forgottenAt > now)) break;
			if (!this.mustStay(oldest.value)) this.delete(oldestKey);
		}
	}

	delete(key: string): void {
		this.weight -= this.stored.get(key)?.weight ?? 0;
		this.stored.delete(key);
	}
}
