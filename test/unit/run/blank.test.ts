import { UserError, type INodeParameters } from 'n8n-workflow';
import { buildBlankError } from '../../../nodes/MediaGeneration/models/field';
import { explainBlank } from '../../../nodes/MediaGeneration/run/blank';
import { buildCall, type Run } from '../n8n';

const typo = '={{ $json.prompts }}';
const mapper = (value: INodeParameters): INodeParameters => ({
	anyFields: { mappingMode: 'defineBelow', value },
});

/** Explains that a field is blank, in a node with these parameters. */
const explain = (
	parameters: INodeParameters,
	error: UserError = buildBlankError('a_b', 'A B'),
	run: Run = {},
) => explainBlank(buildCall({ ...run, parameters }), error) as UserError;

it.each<[place: string, INodeParameters]>([
	['its own', { a_b: typo }],
	['its locator', { a_b: { __rl: true, mode: 'id', value: typo } }],
	["the model's fields", mapper({ a_b: typo })],
	['the JSON', { inputMode: 'json', anyInput: typo, ...mapper({ a_b: '={{ 1 }}' }) }],
])('a required field that an expression in %s leaves blank is named with it', (_, parameters) => {
	expect(explain(parameters)).toMatchObject({
		message:
			"'A B' is required, but its expression {{ $json.prompts }} gives nothing for this item",
		description:
			'Nothing was sent for this item. Check the names in the expression, then run the node again.',
	});
});

it('a special remedy stays', () => {
	const error = buildBlankError('a_b', 'A B', 'Connect the node.');
	const explained = explain({ a_b: typo }, error);
	expect(explained.description).toBe('Nothing was sent for this item. Connect the node.');
});

it('a long expression is cut', () => {
	const { message } = explain({ a_b: `={{ $json.${'x'.repeat(900)} }}` });
	expect(message.length).toBeLessThan(150);
});

it.each<[why: string, INodeParameters, Run]>([
	['blank itself', { a_b: '' }, {}],
	['left to an agent', { a_b: "={{ $fromAI('a_b', 'What', 'string') }}" }, { isTool: true }],
	['an expression of another field', { other: typo }, {}],
])('a field that is %s is required, and no more is said', (_, parameters, run) => {
	const error = buildBlankError('a_b', 'A B');
	expect(explain(parameters, error, run)).toBe(error);
});

it('other errors stay as they are', () => {
	const error = new UserError("'A B' must be text");
	expect(explain({ a_b: typo }, error)).toBe(error);
});

it('with Map Automatically, the column is named', () => {
	const anyFields = { mappingMode: 'autoMapInputData', value: { a_b: typo } };
	expect(explain({ anyFields })).toMatchObject({
		message: "'A B' is required, but the item has nothing in a column named exactly a_b",
		description: expect.stringContaining('Fill in the column, or name it a_b') as string,
	});
	expect(explain({ anyFields, a_b: typo }).message).toContain('expression');
});
