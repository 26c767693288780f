import type {
	ICredentialDataDecryptedObject,
	IExecuteData,
	IRunExecutionData,
	IWorkflowDataProxyAdditionalKeys,
	IWorkflowExecuteAdditionalData,
	Workflow,
} from 'n8n-workflow';

/** The fields of n8n's contexts that no function returns (`node-execution-context.js`; 2.14.2, 2.41.1). */
interface Internals {
	additionalData?: Partial<IWorkflowExecuteAdditionalData>;
	additionalKeys?: IWorkflowDataProxyAdditionalKeys;
	/** Absent before a run, as in a trigger's webhook. */
	runExecutionData?: Partial<IRunExecutionData>;
	workflow?: Workflow;
	_getCredentials?: (
		type: string,
		executeData: IExecuteData,
		input: never[],
		item: number,
	) => Promise<ICredentialDataDecryptedObject>;
}

/** Looks into a context. Any field may be missing, because none is documented. */
export const lookInside = (context: object): Internals => context as Internals;
