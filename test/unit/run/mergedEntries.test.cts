import {
	listTaskIds,
	mergeEntry,
	stateOf,
	type Entry,
} from '../../../nodes/MediaGeneration/run/ledger';

it('merging entries of two processes loses no ID', () => {
	const entry: Entry = { attempts: [{ taskId: 'a' }] };
	mergeEntry(entry, { attempts: [{ taskId: 'b' }, { taskId: 'c' }] });
	expect(listTaskIds([entry]).sort()).toEqual(['a', 'b', 'c']);
});

it('a task that n8n has stored takes the place of an unknown outcome of another process', () => {
	const entry: Entry = { attempts: [], unknown: { message: 'reset' } };
	mergeEntry(entry, { attempts: [{ taskId: 'b' }] });
	expect([stateOf(entry), listTaskIds([entry])]).toEqual(['open', ['b']]);
});
