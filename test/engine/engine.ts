import { ExecutionLifecycleHooks, WorkflowExecute } from 'n8n-core';
import {
	createRunExecutionData,
	Workflow,
	type IBinaryKeyData,
	type ICredentialDataDecryptedObject,
	type ICredentialsHelper,
	type IDataObject,
	type IHttpRequestOptions,
	type INode,
	type INodeParameters,
	type IWorkflowExecuteAdditionalData,
	type NodeError,
} from 'n8n-workflow';
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
import { startService, type Service } from '../../dev/service/index.cts';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';

/** Returns the data of a credential, each time that n8n reads it. */
type ReadCredential = () => ICredentialDataDecryptedObject;

interface RunOptions {
	items?: IDataObject[];
	/** The files of each item. */
	binary?: IBinaryKeyData;
	/** Returns changes of the credential that the emulator accepts. */
	credentials?: ReadCredential;
	/** More settings of the node, such as `onError`. */
	node?: Partial<INode>;
}

/** Runs the built action node in n8n's own engine. */
async function run(
	parameters: INodeParameters,
	readCredential: ReadCredential,
	{ items = [{}], binary, node: settings }: RunOptions,
) {
	const type = new MediaGeneration();
	const node: INode = {
		id: '1',
		name: 'Media Generation',
		type: 'mediaGeneration',
		typeVersion: Math.max(...[type.description.version].flat()),
		position: [0, 0],
		parameters,
		credentials: { mediaGenerationApi: { id: '1', name: 'Media Generation API' } },
		...settings,
	};
	const getType = () => type;
	const nodeTypes = { getByName: getType, getByNameAndVersion: getType, getKnownTypes: () => ({}) };
	const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
	const input = { main: [items.map((json) => ({ json, binary }))] };
	const nodeExecutionStack = [{ node, data: input, source: null }];
	const { data } = await new WorkflowExecute(
		buildAdditionalData(readCredential),
		'manual',
		createRunExecutionData({ executionData: { nodeExecutionStack } }),
	).processRunExecutionData(workflow);
	const taskData = data.resultData.runData[node.name]?.at(-1);
	return {
		output: taskData?.data?.main?.[0] ?? [],
		/** The hints that n8n shows beside the output. */
		hints: (taskData?.hints ?? []).map(({ message }) => message),
		/** The error that stopped the execution, if one did. */
		error: data.resultData.error as NodeError | undefined,
	};
}

/** Builds what n8n gives to an execution, as far as this node uses it. */
function buildAdditionalData(readCredential: ReadCredential) {
	const { authenticate, properties } = new MediaGenerationApi();
	if (typeof authenticate !== 'function') throw new Error('authenticate is no function');
	const credentialsHelper: Partial<ICredentialsHelper> = {
		getParentTypes: () => [],
		isCredentialUsableByNode: () => true,
		getDecrypted: async () => readCredential(),
		preAuthentication: async () => undefined,
		authenticate: async (data, _name, request) =>
			await authenticate(data, request as IHttpRequestOptions),
		getCredentialsProperties: () => properties,
	};
	return {
		credentialsHelper,
		currentNodeExecutionIndex: 0,
		executionId: '1',
		variables: {},
		hooks: new ExecutionLifecycleHooks('manual', '1', {} as never),
		webhookWaitingBaseUrl: 'https://n8n.example/webhook-waiting',
		formWaitingBaseUrl: 'https://n8n.example/form-waiting',
	} as unknown as IWorkflowExecuteAdditionalData;
}

/** Parameters for a task that edits an image by the prompt of its item. */
export const editImage: INodeParameters = {
	resource: 'task',
	operation: 'start',
	model: 'beta2/image-edit',
	image: 'https://media.example/photo.png',
	prompt: "={{ $json.prompt ?? '' }}",
};

/** Starts an emulator for the tests of a file, and a node whose credential it accepts. Each test begins without tasks. */
export function useService(settings: Parameters<typeof startService>[0] = {}) {
	const credentials = { baseUrl: '', accessToken: 'a-token', webhookSecret: 'a-key' };
	const engine = {
		service: undefined as unknown as Service,
		/** Lists the tasks that the service has, the oldest first. */
		listTasks: () => [...engine.service.tasks.values()],
		run: async (parameters: INodeParameters, options: RunOptions = {}) =>
			await run(parameters, () => ({ ...credentials, ...options.credentials?.() }), options),
	};
	beforeAll(async () => {
		const { accessToken: token, webhookSecret } = credentials;
		engine.service = await startService({ token, webhookSecret, ...settings });
		credentials.baseUrl = engine.service.url;
	});
	beforeEach(() => {
		engine.service.tasks.clear();
		engine.service.uploads.clear();
		engine.service.requests.length = 0;
	});
	afterAll(async () => await engine.service.close());
	return engine;
}
