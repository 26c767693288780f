import { ExecutionLifecycleHooks, WorkflowExecute } from 'n8n-core';
import {
	createRunExecutionData,
	NodeConnectionTypes,
	Workflow,
	type ICredentialDataDecryptedObject,
	type ICredentialsHelper,
	type ICredentialType,
	type IDataObject,
	type IHttpRequestOptions,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeType,
	type INodeTypes,
	type IWorkflowExecuteAdditionalData,
	type NodeError,
	type OnError,
} from 'n8n-workflow';
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';

/** A node that returns fixed items, so that a workflow has an input. */
class Input implements INodeType {
	description = {
		displayName: 'Input',
		name: 'input',
		group: [],
		version: 1,
		description: 'Gives out fixed items',
		defaults: { name: 'Input' },
		usableAsTool: true as const,
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		properties: [],
	};

	constructor(private readonly items: IDataObject[]) {
		this.execute = async () => [this.items.map((json) => ({ json }))];
	}

	execute: INodeType['execute'];
}

export interface Run {
	/** What the node returned, by output: the second is On Error's own. */
	output: INodeExecutionData[][];
	/** What n8n shows beside the output. */
	hints: string[];
	/** What stopped the execution, if anything did. */
	error?: NodeError;
	/** The items that n8n stores while the execution waits, if it does. */
	parked?: INodeExecutionData[];
}

/** Runs the built action node in n8n's own engine, on these items. */
export async function run({
	type = new MediaGeneration() as INodeType,
	parameters,
	items = [{}],
	credentials,
	onError = 'stopWorkflow',
	node: settings = {},
}: {
	/** Another build of the action node. */
	type?: INodeType;
	parameters: INodeParameters;
	items?: IDataObject[];
	/** By item, or undefined where n8n has no data of the run, as for a webhook. */
	credentials:
		| ICredentialDataDecryptedObject
		| ((item: IDataObject | undefined) => ICredentialDataDecryptedObject);
	onError?: OnError;
	/** More settings of the node. */
	node?: Partial<INode>;
}): Promise<Run> {
	const types: Record<string, INodeType> = {
		input: new Input(items),
		mediaGeneration: type,
	};
	const nodeTypes: INodeTypes = {
		getByName: (name) => types[name] as INodeType,
		getByNameAndVersion: (name) => types[name] as INodeType,
		getKnownTypes: () => ({}),
	};
	const node = (name: string, type: string, more: Partial<INode> = {}): INode => ({
		id: name,
		name,
		type,
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
		...more,
	});
	const workflow = new Workflow({
		id: 'workflow',
		active: false,
		nodeTypes,
		nodes: [
			node('Input', 'input'),
			node('Media Generation', 'mediaGeneration', {
				...settings,
				parameters,
				onError,
				credentials: { mediaGenerationApi: { id: '1', name: 'Media Generation API' } },
			}),
		],
		connections: {
			Input: { main: [[{ node: 'Media Generation', type: NodeConnectionTypes.Main, index: 0 }]] },
		},
	});
	const execution = new WorkflowExecute(
		additionalData(credentials),
		'manual',
		createRunExecutionData({
			executionData: {
				nodeExecutionStack: [
					{
						node: workflow.getNode('Input') as INode,
						data: { main: [[{ json: {} }]] },
						source: null,
					},
				],
			},
		}),
	);
	const { data } = await execution.processRunExecutionData(workflow);
	const [taskData] = data.resultData.runData['Media Generation'] ?? [];
	return {
		output: (taskData?.data?.main ?? []).map((branch) => branch ?? []),
		hints: (taskData?.hints ?? []).map(({ message }) => message),
		error: data.resultData.error as NodeError | undefined,
		parked: data.waitTill
			? (data.executionData?.nodeExecutionStack[0]?.data.main?.[0] ?? [])
			: undefined,
	};
}

/** What n8n gives to an execution, as far as this node uses it. */
function additionalData(
	credentials: Parameters<typeof run>[0]['credentials'],
): IWorkflowExecuteAdditionalData {
	const type: ICredentialType = new MediaGenerationApi();
	const credentialsHelper: Partial<ICredentialsHelper> = {
		getParentTypes: () => [],
		isCredentialUsableByNode: () => true,
		getDecrypted: async (_data, _credentials, _type, _mode, _executeData, _raw, values) => {
			const item = values?.connectionInputData[values.itemIndex]?.json;
			return { ...(typeof credentials === 'function' ? credentials(item) : credentials) };
		},
		preAuthentication: async () => undefined,
		authenticate: async (data, _name, request) => {
			if (typeof type.authenticate !== 'function') throw new Error('authenticate is no function');
			return await type.authenticate(data, request as IHttpRequestOptions);
		},
		getCredentialsProperties: () => type.properties,
	};
	return {
		credentialsHelper,
		currentNodeExecutionIndex: 0,
		executionId: '1',
		variables: {},
		hooks: new ExecutionLifecycleHooks('manual', '1', {} as never),
		restApiUrl: '',
		instanceBaseUrl: '',
		webhookBaseUrl: '',
		webhookWaitingBaseUrl: 'https://n8n.example/webhook-waiting',
		webhookTestBaseUrl: '',
		formWaitingBaseUrl: 'https://n8n.example/form-waiting',
	} as unknown as IWorkflowExecuteAdditionalData;
}
