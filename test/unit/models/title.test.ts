import { toTitle } from '../../../nodes/MediaGeneration/models/title';

it.each([
	['image_urls', 'Image URLs'],
	['inputURL', 'Input URL'],
	['cfg-scale.v2', 'CFG Scale V2'],
	['from_a_to_B', 'From a to B'],
	['take2Shots', 'Take2 Shots'],
	['svgs', 'SVGs'],
	['__', '__'],
])('the title of %j is %j', (name, title) => expect(toTitle(name)).toBe(title));
