import { createRunExecutionData, type INodeExecutionData } from 'n8n-workflow';
import { sleepHints } from '../../nodes/MediaGeneration/operations/wait/outcomeHints';
import { evaluate } from './expression';

const NAME = "The client's films";

interface Run {
	statuses: string[];
	input?: INodeExecutionData[];
	slept?: boolean;
}

/** Returns the hints that n8n's editor shows at the output of a node that the user has renamed. */
function showHints({ statuses, input = [{ json: {} }], slept = true }: Run) {
	const output = statuses.map((status) => ({ json: { status } }));
	const ran = { startTime: 0, executionTime: 0, executionIndex: 0, source: [] };
	const data = createRunExecutionData({
		resultData: { runData: { [NAME]: [{ ...ran, data: { main: [output] } }] } },
		executionData: { contextData: slept ? { [`node:${NAME}`]: { parked: {} } } : {} },
	});
	return sleepHints
		.filter(({ displayCondition }) =>
			evaluate(displayCondition, { nodes: [NAME, 'Media Generation'], data, input }),
		)
		.map(({ message }) => message);
}

const fill = (length: number, status: string) => Array.from({ length }, () => status);

describe('the hints at the output of a renamed node that slept', () => {
	it.each([
		['nothing', ['completed'], []],
		['one that failed', ['completed', 'failed'], [/^1 task failed: its failMessage/]],
		['two that failed', fill(2, 'failed'), [/^2 tasks failed: the failMessage of each/]],
		['nine', fill(9, 'failed'), [/^9 tasks failed/]],
		['more', fill(10, 'failed'), [/^More than 9 tasks failed/]],
		['both', ['failed', ...fill(3, 'timedOut')], [/^1 task failed/, /^3 tasks have not ended/]],
	])('count %s', (_, statuses, expected) => {
		expect(showHints({ statuses })).toEqual(
			expected.map((pattern) => expect.stringMatching(pattern) as string),
		);
	});

	it('are there without input items too', () => {
		expect(showHints({ statuses: ['failed'], input: [] })).toHaveLength(1);
	});

	it('are not there if the node stayed awake, which has hints of its own', () => {
		expect(showHints({ statuses: ['failed'], slept: false })).toEqual([]);
	});
});
