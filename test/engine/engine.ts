import { ExecutionLifecycleHooks, WorkflowExecute } from 'n8n-core';
import {
	createRunExecutionData,
	Workflow,
	type ICredentialDataDecryptedObject,
	type ICredentialsHelper,
	type IBinaryKeyData,
	type IDataObject,
	type IHttpRequestOptions,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeType,
	type IRunExecutionData,
	type IWorkflowExecuteAdditionalData,
	type NodeError,
} from 'n8n-workflow';
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
import { startService, type Service } from '../../dev/service/index.cts';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
import type { Wait } from '../../nodes/MediaGeneration/operations/record';
import type { WaitSettings } from '../../nodes/MediaGeneration/operations/wait/looker';
import { startWaitingWebhooks } from './waitingWebhooks.cts';

/** The data of a credential, by item; undefined where n8n has no data of the run, as for a webhook. */
type ReadCredential = (item: IDataObject | undefined) => ICredentialDataDecryptedObject;

interface RunOptions {
	/** Another build of the action node. */
	type?: INodeType;
	parameters: INodeParameters;
	items?: IDataObject[];
	/** The files of each item. */
	binary?: IBinaryKeyData;
	credentials: ICredentialDataDecryptedObject | ReadCredential;
	/** More settings of the node, such as `onError`. */
	node?: Partial<INode>;
	/** More of what n8n gives to an execution. */
	additionalData?: Partial<IWorkflowExecuteAdditionalData>;
	/** The execution whose next run this is, as in a loop. */
	after?: IRunExecutionData;
	/** The execution that this one retries, from the executions list: n8n hands the contexts of its nodes on. */
	retryOf?: IRunExecutionData;
	/** Stops the execution when this resolves. */
	stopAfter?: () => Promise<unknown>;
}

/** Runs the built action node in n8n's own engine, on these items. */
export async function run({
	type = new MediaGeneration(),
	parameters,
	items = [{}],
	binary,
	credentials,
	node: settings,
	additionalData,
	after,
	retryOf,
	stopAfter,
}: RunOptions) {
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
	const execution = new WorkflowExecute(
		{
			...buildAdditionalData(
				typeof credentials === 'function' ? credentials : () => credentials,
				retryOf ? '2' : '1',
			),
			...additionalData,
		},
		'manual',
		createRunExecutionData({
			resultData: { runData: after?.resultData.runData },
			executionData: {
				contextData: (after ?? retryOf)?.executionData?.contextData,
				nodeExecutionStack,
			},
		}),
	);
	const running = execution.processRunExecutionData(workflow);
	if (stopAfter) void stopAfter().then(() => running.cancel());
	const { data } = await running;
	const taskData = data.resultData.runData[node.name]?.at(-1);
	const [waiting] = data.executionData?.nodeExecutionStack ?? [];
	return {
		data,
		/** The node's items, by output: the second is On Error's own. */
		output: (taskData?.data?.main ?? []).map((branch): INodeExecutionData[] => branch ?? []),
		/** Shown by n8n beside the output. */
		hints: (taskData?.hints ?? []).map(({ message }) => message),
		/** The error that stopped the execution, if one did. */
		error: data.resultData.error as NodeError | undefined,
		/** The items that n8n stores while the execution waits, if it does. */
		parked: data.waitTill ? (waiting?.data.main?.[0] ?? []) : undefined,
		/** What the node's context has for the webhook that resumes the execution. */
		wait: (
			data.executionData?.contextData[`node:${node.name}`]?.run as
				| { wait?: Wait<WaitSettings> }
				| undefined
		)?.wait,
	};
}

/** Builds what n8n gives to an execution, as far as this node uses it. */
function buildAdditionalData(readCredential: ReadCredential, executionId: string) {
	const { authenticate, properties } = new MediaGenerationApi();
	if (typeof authenticate !== 'function') throw new Error('authenticate is no function');
	const credentialsHelper: Partial<ICredentialsHelper> = {
		getParentTypes: () => [],
		isCredentialUsableByNode: () => true,
		getDecrypted: async (_data, _credentials, _type, _mode, _executeData, _raw, values) => ({
			...readCredential(values?.connectionInputData[values.itemIndex]?.json),
		}),
		preAuthentication: async () => undefined,
		authenticate: async (data, _name, request) =>
			await authenticate(data, request as IHttpRequestOptions),
		getCredentialsProperties: () => properties,
	};
	return {
		credentialsHelper,
		currentNodeExecutionIndex: 0,
		executionId,
		variables: {},
		hooks: new ExecutionLifecycleHooks('manual', executionId, {} as never),
		webhookWaitingBaseUrl: 'https://n8n.example/webhook-waiting',
		formWaitingBaseUrl: 'https://n8n.example/form-waiting',
	} as unknown as IWorkflowExecuteAdditionalData;
}

/** Parameters of the node that creates a task which edits an image by the prompt of its item. */
export const editImage: INodeParameters = {
	resource: 'task',
	operation: 'create',
	model: 'beta2/image-edit',
	image: 'https://media.example/photo.png',
	prompt: '={{ $json.prompt }}',
};

/** Starts an emulator for the tests of a file, and a node whose credential it accepts. Each test begins without tasks. */
export function useService(settings: Parameters<typeof startService>[0] = {}) {
	const used = {
		service: undefined as unknown as Service,
		credentials: { baseUrl: '', accessToken: 'a-token', webhookSecret: 'a-key' },
		/** Lists the tasks that the service has, the oldest first. */
		listTasks: () => [...used.service.tasks.values()],
		/** Runs the node. The data of a credential are changes of the accepted one. */
		async run(parameters: INodeParameters, { credentials, ...more }: Partial<RunOptions> = {}) {
			const data = { ...used.credentials, ...credentials };
			const isRead = typeof credentials === 'function';
			const additionalData = { webhookWaitingBaseUrl: waiting.url, ...more.additionalData };
			const all = { ...more, parameters, additionalData };
			return await run({ ...all, credentials: isRead ? credentials : data });
		},
	};
	let waiting: Awaited<ReturnType<typeof startWaitingWebhooks>>;
	beforeAll(async () => {
		waiting = await startWaitingWebhooks();
		const { accessToken: token, webhookSecret } = used.credentials;
		used.service = await startService({ token, webhookSecret, ...settings });
		used.credentials.baseUrl = used.service.url;
	});
	beforeEach(() => {
		used.service.tasks.clear();
		used.service.uploads.clear();
		used.service.requests.length = 0;
	});
	afterAll(async () => {
		waiting.close();
		await used.service.close();
	});
	return used;
}
