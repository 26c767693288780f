/** Says whether a parsed JSON value is nested deeper than this. It looks no deeper itself. */
export function isDeeper(value: unknown, levels: number): boolean {
	if (typeof value !== 'object' || value === null) return false;
	if (levels === 0) return true;
	for (const key in value)
		if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true;
	return false;
}
