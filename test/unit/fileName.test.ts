import { toFileName } from '../../nodes/MediaGeneration/lib/fileName';

it.each([
	['5f2c-A_9', '5f2c-A_9'],
	['../../../../etc/cron.d/x', 'etc-cron-d-x'],
	['..\\..\\Windows\\x', 'Windows-x'],
	['C:\\x', 'C-x'],
	['.bashrc', 'bashrc'],
	['-rf', 'rf'],
	['a\u0000b\r\nc', 'a-b-c'],
	['a'.repeat(300), 'a'.repeat(60)],
	['', 'file'],
	['...', 'file'],
	['日本', 'file'],
])('makes of %j the file name %s', (text, name) => expect(toFileName(text)).toBe(name));
