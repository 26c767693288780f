/** A map that forgets its oldest entry when it is full. */
export class BoundedMap<K, V> extends Map<K, V> {
	constructor(private readonly limit: number) {
		super();
	}

	/** Sets an entry, which becomes the newest one. */
	override set(key: K, value: V): this {
		this.delete(key);
		super.set(key, value);
		if (this.size > this.limit) this.delete(this.keys().next().value as K);
		return this;
	}
}
