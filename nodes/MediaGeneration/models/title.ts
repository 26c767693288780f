const ABBREVIATIONS =
	/^(ai|api|bgm|bpm|cfg|fps|gif|hdr?|id|ip|lut|mp[34]|png|rgb|svg|tts|ur[il]|vr|[23]d)$/;
const SMALL_WORDS = /^(an?|and|as|at|by|for|from|in|of|on|or|the|to|with)$/;

/**
 * Writes a property's name as the editor writes names, for example "Image URLs" for `image_urls`.
 */
export function toTitle(name: string): string {
	const words = name
		.replace(/([a-z\d])([A-Z])/g, '$1 $2')
		.split(/[\s_.-]/)
		.filter(Boolean)
		.map((word, index) => {
			const lower = word.toLowerCase();
			const [, singular = '', plural = ''] = /^(.*?)(s?)$/.exec(lower) ?? [];
			if (ABBREVIATIONS.test(singular)) return singular.toUpperCase() + plural;
			if (index > 0 && SMALL_WORDS.test(lower)) return lower;
			return lower.charAt(0).toUpperCase() + lower.slice(1);
		});
	return words.join(' ') || name;
}
