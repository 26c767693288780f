import { holdsAll } from '../../../dev/compareRelease.cts';

const choose = (...values: string[]) => values.map((value) => ({ name: `The ${value}`, value }));
const color = { name: 'color', type: 'options', options: choose('red', 'blue'), default: 'red' };
const options = { name: 'options', type: 'collection', default: {}, options: [color] };
const title = {
	name: 'title',
	type: 'string',
	default: '',
	displayOptions: { show: { operation: ['cut', 'make'] } },
};

it.each<[string, object, object]>([
	['another name', title, { ...title, name: 'label' }],
	['another default', options, { ...options, default: { color: 'red' } }],
	['what is required', title, { ...title, required: true }],
	['a removed choice', color, { ...color, options: choose('red') }],
	['a removed version', { name: 'films', version: [1, 1.1] }, { name: 'films', version: 1.1 }],
	[
		'an operation that no longer has it',
		title,
		{ ...title, displayOptions: { show: { operation: ['make'] } } },
	],
	[
		'a further condition',
		options,
		{ ...options, displayOptions: { show: { operation: ['make'] } } },
	],
	[
		'a value that hides it',
		options,
		{ ...options, displayOptions: { hide: { operation: ['make'] } } },
	],
])('%s breaks workflows', (_, was, now) => {
	expect(holdsAll(was, was)).toBe(true);
	expect(holdsAll(was, now)).toBe(false);
});

it.each<[string, object, object]>([
	['a new option', options, { ...options, options: [title, color] }],
	[
		'a new choice, and other words',
		color,
		{ ...color, options: [{ name: 'Red', value: 'red' }, ...choose('blue', 'green')] },
	],
	['a new version', { name: 'films', version: 1 }, { name: 'films', version: [1, 1.1] }],
	[
		'a parameter of an old version',
		options,
		{ ...options, displayOptions: { show: { '@version': [1] } } },
	],
])('%s breaks nothing', (_, was, now) => {
	expect(holdsAll(was, now)).toBe(true);
});
