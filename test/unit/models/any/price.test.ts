import { shortenPrice } from '../../../../nodes/MediaGeneration/models/any/price';

it.each([
	['5 seconds: 70 credits. 10 seconds: 140 credits.', '70 credits / 5 s'],
	['A 5-second video costs 70 credits ($0.35), with sound 140.', '70 credits / 5 s'],
	['🖼️ 4 pictures: 8 credits\n🖼️ 4 pictures in 4K: 20 credits', '8 credits / 4 pictures'],
	['1 minute costs 1.5 credits', '1.5 credits / 1 min'],
	['Fast: 60 credits 🚀\nQuality: 250 credits', 'Fast: 60 credits 🚀'],
	['From 40 credits; see the price list.', 'From 40 credits'],
	['12 credits for video, 20 credits with sound', '12 credits for video, 20 credits with sound'],
	['6 credits for each 1,000 characters', '6 credits for each 1,000 characters'],
	['6 credits a second at 480p, 12 at 720p', '6 credits / s'],
	['2.5 credits for each megapixel', '2.5 credits / megapixel'],
	['🖼️ 1 credit per page', '1 credit / page'],
	['$0.40 per clip', '$0.40 per clip'],
	['', ''],
])('the price %j is shortly %j', (price, short) => {
	expect(shortenPrice(price)).toBe(short);
});
