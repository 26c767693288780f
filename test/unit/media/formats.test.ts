import { recognizeFormat } from '../../../nodes/MediaGeneration/media/formats';
import { names, readMedia } from '../../media/corpus.cts';

const recognize = (head: Buffer | string) =>
	recognizeFormat(Buffer.from(head as string, 'latin1'))?.format;

/** Beginnings that no file of the corpus has. */
const heads: Record<string, string> = {
	heic: '\0\0\0\x18ftyphevc',
	wav: 'RIFF\x01\x02\x03\x04WAVE',
	mp3: '\xff\xfb\x90d',
	ogg: 'OggS\0\x02',
	flac: 'fLaC\0',
	svg: '<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="',
	glb: 'glTF\x02',
	zip: 'PK\x03\x04\x14',
	html: '\n <html>',
};

it.each(Object.entries(heads))('%s is recognized', (format, head) => {
	expect(recognize(head)).toBe(format);
});

it('no format is recognized behind other bytes, and no text around a zero byte', () => {
	const all = [...names.map((name) => readMedia(name).toString('latin1')), ...Object.values(heads)];
	for (const head of all)
		expect([undefined, 'text']).toContain(recognize(`other ${head}`.slice(0, 64)));
	expect([recognize('\0text'), recognize('text\0')]).toEqual([undefined, undefined]);
});
