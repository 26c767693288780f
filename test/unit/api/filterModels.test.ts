import { filterModels } from '../../../nodes/MediaGeneration/api/filterModels';

const build = (model: string, title: string, ...taskType: string[]) => ({ model, title, taskType });

const CAPTION = build('caption', 'Caption', 'Video to Text');
const CLIP = build('clip', 'Clip', 'Text to Video');
const ANIMATE = build('animate', 'Animate', 'Image to Video');
const PAINT = build('paint', 'Paint', 'Text to Image');
const SONG = build('song-5', 'Song V5', 'Text to Music');
const SOUND = build('sound', 'Sound', 'Text to Music');
const SPEAK = build('speak/text-to-speech', 'Speak');
const all = [CAPTION, SOUND, ANIMATE, CLIP, PAINT, SONG, SPEAK];

it.each([
	['', all],
	['text to video', [CLIP, CAPTION]],
	[' Video  to TEXT ', [CAPTION, CLIP]],
	['photo to video', [ANIMATE]],
	['video of a photo', []],
	['pictures', [PAINT, ANIMATE]],
	['song', [SONG, SOUND]],
	['voice', [SPEAK]],
	['text to speech', [SPEAK]],
	['text-to-video', [CLIP, CAPTION]],
])('a search for "%s" finds what it means, those with the phrase first', (filter, found) => {
	const names = (models: typeof all) => models.map(({ model }) => model).sort();
	const models = filterModels(all, filter) as typeof all;
	expect(names(models)).toEqual(names(found));
	expect(models[0]).toBe(found[0]);
});
