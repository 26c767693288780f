import { withSignal } from '../../../nodes/MediaGeneration/host/unstoppable';

it('a context has another signal, and all else as it was', () => {
	const own = new AbortController().signal;
	const other = new AbortController().signal;
	const context = {
		name: 'Node',
		getExecutionCancelSignal: () => own,
		getName() {
			return this.name;
		},
	};
	const changed = withSignal(context, other);
	expect(changed.getExecutionCancelSignal()).toBe(other);
	expect(changed.getName()).toBe('Node');
	expect(context.getExecutionCancelSignal()).toBe(own);
});
