import type { INodeExecutionData, IRunData, IRunExecutionData } from 'n8n-workflow';

/** An execution, with the data that its nodes returned. */
export class Execution {
	constructor(
		readonly id: string,
		readonly status: string,
		readonly data: IRunExecutionData,
		/** Milliseconds since 1970; undefined while it has not ended. */
		readonly endedAt?: number,
	) {}

	/** Returns the runs of a node, the first one first. */
	getRuns(node: string): IRunData[string] {
		return this.data.resultData.runData[node] ?? [];
	}

	/** Returns the items of a node's last run, with references to binary data. */
	getOutput(node: string, { branch = 0 } = {}): INodeExecutionData[] {
		return this.getRuns(node).at(-1)?.data?.main?.[branch] ?? [];
	}

	/** Returns the `json` of the items of a node's last run. */
	getItems<Json = INodeExecutionData['json']>(node: string) {
		return this.getOutput(node).map(({ json }) => json as Json);
	}

	getError() {
		return this.data.resultData.error;
	}

	/** Returns all that the user reads of an error: its message, and what stands below it; blank where there was none. */
	readError() {
		const { message = '', description = '' } = this.getError() ?? {};
		return `${message}\n${description ?? ''}`.trim();
	}
}
