import { spaceWords } from '../lib/text';

const ABBREVIATIONS =
	/^(ai|api|bgm|bpm|cfg|fps|gif|hdr?|id|ip|lut|mp[34]|png|rgb|svg|tts|ur[il]|vr|[23]d)$/;
const SMALL_WORDS = /^(an?|and|as|at|by|for|from|in|of|on|or|the|to|with)$/;

/** Writes a property's name as the editor writes names: "Image URLs" for `image_urls`. */
export function toTitle(name: string): string {
	const words = spaceWords(name).trim().split(' ');
	const titled = words.map((word, index) => {
		const [, singular = '', plural = ''] = /^(.*?)(s?)$/.exec(word) ?? [];
		if (ABBREVIATIONS.test(singular)) return singular.toUpperCase() + plural;
		if (index > 0 && SMALL_WORDS.test(word)) return word;
		return word.charAt(0).toUpperCase() + word.slice(1);
	});
	return titled.join(' ') || name;
}
