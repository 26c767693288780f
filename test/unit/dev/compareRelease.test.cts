import type { INodeProperties } from 'n8n-workflow';
import { describeNode, listBreaks } from '../../../dev/compareRelease.cts';

const describeFilms = () => ({
	name: 'films',
	version: 1 as number | number[],
	properties: [
		{
			displayName: 'Operation',
			name: 'operation',
			type: 'options',
			options: [
				{ name: 'Cut', value: 'cut' },
				{ name: 'Make', value: 'make' },
			],
			default: 'make',
		},
		{ displayName: 'Title', name: 'title', type: 'string', default: '' },
		{
			displayName: 'Options',
			name: 'options',
			type: 'collection',
			default: {},
			options: [
				{
					displayName: 'Color',
					name: 'color',
					type: 'options',
					options: [{ name: 'Red', value: 'red' }],
					default: 'red',
				},
			],
		},
	] as INodeProperties[],
});

type Films = ReturnType<typeof describeFilms>;

/** Changes the node, and returns what workflows made before miss. */
function breakBy(change: (films: Films) => void): string[] {
	const films = describeFilms();
	change(films);
	expect(films).not.toEqual(describeFilms());
	const describe = ({ name, version, properties }: Films) =>
		describeNode([{ name, version }, ...properties].map((part) => JSON.stringify(part)));
	return listBreaks(describe(describeFilms()), describe(films));
}

const get = ({ properties }: Films, index: number) => properties[index] as INodeProperties;
const getColor = (films: Films) => get(films, 2).options?.[0] as INodeProperties;

it.each<[string, (films: Films) => void, string]>([
	[
		'a removed parameter',
		({ properties }) => properties.splice(1, 1),
		'make, title has {"type":"string"',
	],
	[
		'a changed default',
		(films) => (get(films, 1).default = 'A'),
		'title has {"type":"string","default":""}',
	],
	['a required parameter', (films) => (get(films, 1).required = true), 'title may be blank'],
	['a removed operation', (films) => get(films, 0).options?.shift(), 'operation takes "cut"'],
	['a removed option', (films) => get(films, 2).options?.pop(), 'color may be blank'],
	['a removed version', (films) => (films.version = 2), 'films 1 make, title'],
	[
		'a parameter that an operation has no more',
		(films) => (get(films, 1).displayOptions = { show: { operation: ['make'] } }),
		'films 1 cut, title',
	],
])('%s breaks workflows', (_, change, sentence) => {
	expect(breakBy(change).join('\n')).toContain(sentence);
});

it.each<[string, (films: Films) => void]>([
	[
		'a new parameter',
		({ properties }) =>
			properties.push({ displayName: 'New', name: 'new', type: 'string', default: '' }),
	],
	['a new value', (films) => getColor(films).options?.push({ name: 'Blue', value: 'blue' })],
	['other words', (films) => (get(films, 1).displayName = 'Name')],
	[
		'another default in a new version',
		(films) => {
			films.version = [1, 2];
			const title = get(films, 1);
			title.displayOptions = { show: { '@version': [1] } };
			const displayOptions = { show: { '@version': [{ _cnd: { gte: 2 } }] } };
			films.properties.push({ ...title, default: 'Film', displayOptions });
		},
	],
])('%s breaks nothing', (_, change) => {
	expect(breakBy(change)).toEqual([]);
});
