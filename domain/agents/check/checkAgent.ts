import { ApiError, fault } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import { findAgent } from '../../../db/queries/agents/agents.ts';
import { findDraftParts } from '../../../db/queries/agents/draftParts.ts';
import { selectLinkStates } from '../../../db/queries/agents/linkStates.ts';
import { canSearchWeb } from '../../../integrations/webSearch/settings.ts';
import { prepareModelSchemas } from '../../../runtime/agent/modelSchema.ts';
import type { AgentScope } from '../../../runtime/agent/tool.ts';
import { originKey } from '../../../runtime/agent/toolNames.ts';
import { makeToolsetInTurns } from '../../../runtime/agent/toolset.ts';
import { audioModelName } from '../../../runtime/audio/models.ts';
import { capabilityTools } from '../../../runtime/capabilities/table.ts';
import type { ModelDescriptor } from '../../../runtime/models/catalogue.ts';
import { isConfigured } from '../../../runtime/models/providers.ts';
import { countTokens } from '../../../runtime/models/tokens.ts';
import { systemPrompt } from '../../../runtime/prompt/assemble.ts';
import { ResourceCache } from '../../../runtime/resources/resourceCache.ts';
import { BUILT_IN_NAMES } from '../../../runtime/variables/builtIns.ts';
import type { WorkspaceContext } from '../../context.ts';
import { snapshotOfDraft } from '../versions/publishDraft.ts';
import { linkWarnings } from './linkWarnings.ts';
import { promptWarnings } from './promptWarnings.ts';
import type { AgentWarning } from './warning.ts';

/** A prompt that takes more of its model's window than this leaves little for the conversation, and costs it in every step. */
const MAX_FIXED_SHARE = 0.25;

/** What every request to the model of an agent has, before anything is said. */
export interface FixedPrompt {
  /** Tokens of the system prompt with the sections of its features, and of the tools. Counted as OpenAI's models count. */
  promptTokens: number;
  toolTokens: number;
  /** Tools that the agent has; a model is told about 128 at most. */
  tools: number;
  contextWindow: number | null;
}

/** What a check found. */
export interface AgentCheck {
  warnings: AgentWarning[];
  /** Undefined when it was not counted: it is far below what would be warned of. */
  fixed: FixedPrompt | undefined;
}

/**
 * What is silently wrong with an agent's draft: what a publication of it would not do as its maker expects. Throws AGENT_NOT_FOUND. It
 * waits for the registry of toolkits where the agent has a connection to one, so give it a deadline.
 */
export async function checkAgent(context: WorkspaceContext, agentId: string): Promise<AgentWarning[]> {
  return (await examineAgent(context, agentId)).warnings;
}

/** As `checkAgent`, with what the fixed part of each request takes. `countAlways`: also where it cannot matter. */
export async function examineAgent(
  { db, workspaceId, runtime }: WorkspaceContext,
  agentId: string,
  { countAlways = false }: { countAlways?: boolean } = {},
): Promise<AgentCheck> {
  const agent = await findAgent(db, workspaceId, agentId);
  if (!agent) throw fault('AGENT_NOT_FOUND');
  const [parts, states] = await Promise.all([
    findDraftParts(db, workspaceId, agentId),
    selectLinkStates(db, workspaceId, agentId),
  ]);
  const snapshot = snapshotOfDraft({ agent, ...parts }, null, (id) => runtime.findGlobalModel(id)?.name);
  // A cache of its own: what is kept there is kept for published versions.
  const subject = { agentId, versionNumber: 0, snapshot, revision: 0 };
  const resources = await new ResourceCache().get(db, workspaceId, runtime, subject);
  const scope: AgentScope = {
    db,
    workspaceId,
    runtime,
    logger: undefined,
    agentId,
    conversationId: newId(),
    channel: 'api',
    externalUserId: '',
    path: [agentId],
    snapshot,
    instructions: snapshot.systemPrompt ?? '',
    resources,
  };
  const inCatalogue = (id: string) => runtime.findGlobalModel(id) !== undefined;
  const { warnings, fixed } = await toolWarnings(scope, countAlways);
  return {
    warnings: [
      ...modelWarnings(scope),
      ...promptWarnings(snapshot, new Set<string>(BUILT_IN_NAMES)),
      ...linkWarnings(states, inCatalogue),
      ...featureWarnings(scope),
      ...warnings,
    ],
    fixed,
  };
}

function modelWarnings({ snapshot, resources: { model }, runtime }: AgentScope): AgentWarning[] {
  if (snapshot.aiModelPublicId === null)
    return [{ code: 'model_missing', subject: null, message: 'The agent has no AI model: it cannot be published.' }];
  if (!model)
    return [{ code: 'model_missing', subject: null, message: 'The AI model of the agent does not exist any more.' }];
  if (isConfigured(runtime.models, model.provider)) return [];
  const message = `The AI model “${model.name}” cannot be called: its provider is not configured on this server.`;
  return [{ code: 'model_not_configured', subject: model.name, message }];
}

function featureWarnings({ snapshot, resources: { model }, runtime }: AgentScope): AgentWarning[] {
  const warnings: AgentWarning[] = [];
  const missing = (code: AgentWarning['code'], what: string) =>
    warnings.push({ code, subject: null, message: `${what}, and this server has no service for it.` });
  if (snapshot.webSearchEnabled && !canSearchWeb(runtime.webSearch))
    missing('web_search_not_configured', 'Web search is switched on');
  if (snapshot.audioListeningEnabled && !audioModelName(runtime.models, 'transcription', model))
    missing('transcription_not_configured', 'Voice messages are to be transcribed');
  if (snapshot.audioResponseEnabled && !audioModelName(runtime.models, 'speech', model))
    missing('speech_not_configured', 'Replies are to be read aloud');
  return warnings;
}

async function toolWarnings(
  scope: AgentScope,
  countAlways: boolean,
): Promise<{ warnings: AgentWarning[]; fixed: FixedPrompt | undefined }> {
  const warnings: AgentWarning[] = [];
  for (const { row, instanceMode } of scope.resources.nativeMcps) {
    if (instanceMode === 'DYNAMIC') continue;
    await scope.runtime.toolkits.knownTools(row).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      const message = `The tools of “${row.name}” (${row.toolkit_slug}) are not known: ${error.message} The agent goes without them meanwhile.`;
      warnings.push({ code: 'toolkit_unreachable', subject: row.name, message });
    });
  }
  const nobody = () => Promise.reject(new Error('A check delegates nothing.'));
  const tools = await capabilityTools(scope, nobody);
  await prepareModelSchemas(tools.map(({ inputSchema }) => inputSchema));
  const { definitions } = await makeToolsetInTurns(tools);
  const count = new Set(tools.map(({ origin }) => originKey(origin))).size;
  if (count > definitions.length) {
    const message = `The agent has ${count} tools. Models are told about the first ${definitions.length}, and cannot call the others. Unlink some, or set the instanceMode of connections to DYNAMIC.`;
    warnings.push({ code: 'tools_over_limit', subject: null, message });
  }
  const fixed = await fixedPrompt(systemPrompt(scope), JSON.stringify(definitions), scope.resources.model, countAlways);
  if (!fixed) return { warnings, fixed: undefined };
  const { promptTokens, toolTokens, contextWindow } = fixed;
  const all = promptTokens + toolTokens;
  if (contextWindow !== null && all > contextWindow * MAX_FIXED_SHARE) {
    const takes = `The prompt (${promptTokens} tokens) and the tools (${toolTokens}) take ${Math.round((100 * all) / contextWindow)} % of the model's window of ${contextWindow} tokens`;
    const end = all >= contextWindow ? 'No message can be answered.' : 'Little is left for the conversation.';
    warnings.push({ code: 'fixed_prompt_large', subject: null, message: `${takes}. ${end}` });
  }
  return { warnings, fixed: { ...fixed, tools: count } };
}

async function fixedPrompt(
  prompt: string,
  tools: string,
  model: ModelDescriptor | undefined,
  countAlways: boolean,
): Promise<Omit<FixedPrompt, 'tools'> | undefined> {
  const contextWindow = model?.contextWindow ?? null;
  // A token has at least one byte. So most agents are checked without the tables of the encoding, which take 70 MB.
  const most = Buffer.byteLength(prompt) + Buffer.byteLength(tools);
  if (!countAlways && (contextWindow === null || most <= contextWindow * MAX_FIXED_SHARE)) return undefined;
  return {
    promptTokens: await countTokens(prompt, Number.POSITIVE_INFINITY),
    toolTokens: await countTokens(tools, Number.POSITIVE_INFINITY),
    contextWindow,
  };
}
