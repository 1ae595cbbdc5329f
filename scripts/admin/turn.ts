import {
  findTurnRecord,
  type LoggedStep,
  type LoggedTurn,
  selectTurns,
  type TurnRecord,
  workspaceOf,
} from '../../db/queries/turns/turnLog.ts';
import { RequestReader, type WholeRequest } from '../../runtime/agent/storedRequest.ts';
import { type Command, CommandError, number, table, uuid } from './command.ts';
import { printable, printableLines, shortJson, usd } from './printable.ts';
import { findingsText, NO_REQUEST, requestText } from './turnRequest.ts';

const LIMIT = { min: 1, max: 1000, integer: true };
const DEFAULT_LIMIT = 50;
const STEP = { min: 0, max: 1_000_000, integer: true };
/** The maximum of characters of an input or output in the text for people. */
const SHOWN = 160;

/** A turn that ended before its first call of a model has none either. */
const NO_STEPS = 'No steps are stored. They are removed after GUILDHALL_KEEP_STEPS_DAYS days (90 unless it is set).';

function shown(turn: LoggedTurn) {
  return {
    turnPublicId: turn.id,
    workspacePublicId: turn.workspace_id,
    conversationPublicId: turn.conversation_id,
    agentPublicId: turn.agent_id,
    versionNumber: turn.version_number,
    kind: turn.kind,
    status: turn.status,
    errorCode: turn.error_code,
    errorMessage: turn.error_message,
    inputTokens: turn.input_tokens,
    outputTokens: turn.output_tokens,
    costUsd: turn.cost_usd,
    startedAt: turn.started_at,
    endedAt: turn.ended_at,
  };
}

/** What the models of steps were sent, by the number of the step; null = it is not stored. */
type Requests = ReadonlyMap<number, WholeRequest | null>;

function shownWhole({ turn, messages, steps, approvals }: TurnRecord, requests: Requests) {
  return {
    ...shown(turn),
    messages: messages.map(({ id, role, content }) => ({ messagePublicId: id, role, content })),
    steps: steps.map((step) => ({
      seq: step.seq,
      agentPublicId: step.agent_id,
      depth: step.depth,
      kind: step.kind,
      name: step.name,
      provider: step.provider,
      status: step.status,
      input: step.input,
      output: step.output,
      durationMs: step.duration_ms,
      inputTokens: step.input_tokens,
      outputTokens: step.output_tokens,
      cachedInputTokens: step.cached_input_tokens,
      cacheWriteTokens: step.cache_write_tokens,
      finishReason: step.finish_reason,
      costUsd: step.cost_usd,
      startedAt: step.started_at,
      ...(requests.has(step.seq) ? { request: requests.get(step.seq) } : {}),
    })),
    approvals: approvals.map((approval) => ({
      approvalPublicId: approval.id,
      toolName: approval.tool_name,
      status: approval.status,
      requestedAt: approval.requested_at,
      decidedAt: approval.decided_at,
      decidedBy: approval.decided_by,
    })),
  };
}

const spent = (used: { input_tokens: number | null; output_tokens: number | null; cost_usd: number | null }): string =>
  `${used.input_tokens ?? 0} in, ${used.output_tokens ?? 0} out, ${usd(used.cost_usd ?? 0)}`;

/** What a call of a model used, the share of the provider's cache, and why its answer ended. */
function ofModel(step: LoggedStep): string[] {
  const cached = [
    ...(step.cached_input_tokens ? [`${step.cached_input_tokens} from the cache`] : []),
    ...(step.cache_write_tokens ? [`${step.cache_write_tokens} into the cache`] : []),
  ];
  return [
    cached.length > 0 ? `${spent(step)} (of the input ${cached.join(' and ')})` : spent(step),
    ...(step.finish_reason === null ? [] : [`ended by ${step.finish_reason}`]),
  ];
}

const took = ({ started_at, ended_at }: LoggedTurn): string =>
  ended_at ? `${ended_at.getTime() - started_at.getTime()} ms` : '';

const headOf = (step: LoggedStep): string => {
  const { seq, kind, depth, status, duration_ms } = step;
  const name = printable(step.provider === null ? step.name : `${step.provider}/${step.name}`);
  const parts = [
    `depth ${depth}`,
    status,
    ...(duration_ms === null ? [] : [`${duration_ms} ms`]),
    ...(kind === 'model' ? ofModel(step) : []),
  ];
  return `${seq} ${kind} ${name}: ${parts.join(', ')}`;
};

/** A step for people, whole: what went in, what came out, and what the model was sent. */
function wholeStep(step: LoggedStep, requests: Requests): string {
  const section = (name: string, value: unknown) =>
    value === null || value === undefined
      ? []
      : [`-- ${name}`, printableLines(typeof value === 'string' ? value : JSON.stringify(value, null, 2), '    ')];
  const request = requests.get(step.seq);
  return [
    headOf(step),
    ...findingsText(step),
    ...(requests.has(step.seq) ? [request ? requestText(request) : NO_REQUEST] : section('input', step.input)),
    ...section('output', step.output),
  ].join('\n');
}

/** A turn for people: its messages, then one paragraph for each step. */
function paragraphs({ turn, messages, steps, approvals }: TurnRecord): string {
  const error = turn.error_code === null ? '' : ` (${turn.error_code}: ${printable(turn.error_message ?? '')})`;
  const head = [
    `turn         ${turn.id}`,
    `workspace    ${turn.workspace_id}`,
    `conversation ${turn.conversation_id}`,
    `agent        ${turn.agent_id} version ${turn.version_number}`,
    `kind         ${turn.kind}`,
    `status       ${turn.status}${error}`,
    `started at   ${turn.started_at.toISOString()}${turn.ended_at ? `, took ${took(turn)}` : ''}`,
    `used         ${spent(turn)}`,
    ...messages.map(({ role, content }) => `${role.padEnd(12)} ${shortJson(content, SHOWN)}`),
    ...approvals.map(
      ({ id, tool_name, status, decided_by }) =>
        `approval     ${id} ${printable(tool_name)} ${status}${decided_by === null ? '' : ` by ${decided_by}`}`,
    ),
  ];
  const told = steps.map((step) => {
    const [input, output] = [shortJson(step.input, SHOWN), shortJson(step.output, SHOWN)];
    return [
      headOf(step),
      ...findingsText(step),
      ...(input === '' ? [] : [`  input  ${input}`]),
      ...(output === '' ? [] : [`  output ${output}`]),
    ].join('\n');
  });
  if (told.length === 0) told.push(NO_STEPS);
  if (steps.some(({ kind }) => kind === 'model')) told.push(`What a model was sent: turn show ${turn.id} --step N`);
  return [head.join('\n'), ...told].join('\n\n');
}

/** The stored turns of conversations, with their steps. */
export const turnCommands: Record<string, Command> = {
  list: {
    usage: '--conversation ID [--limit N]',
    words: 0,
    options: { conversation: { type: 'string' }, limit: { type: 'string' } },
    prepare(_words, options) {
      const conversationId = uuid(options.conversation, '--conversation');
      const limit = number(options.limit, '--limit', LIMIT) ?? DEFAULT_LIMIT;
      return async (database) => {
        const workspaceId = await workspaceOf(database.system, 'conversation', conversationId);
        if (workspaceId === undefined) throw new CommandError(`There is no conversation ${conversationId}`);
        const turns = await selectTurns(database.forWorkspace(workspaceId), workspaceId, conversationId, limit);
        return {
          json: turns.map(shown),
          text: table(
            ['TURN', 'STARTED', 'TOOK', 'KIND', 'STATUS', 'USED', 'ERROR'],
            turns.map((turn) => [
              turn.id,
              turn.started_at.toISOString(),
              took(turn),
              turn.kind,
              turn.status,
              spent(turn),
              turn.error_code ?? '',
            ]),
          ),
        };
      };
    },
  },
  show: {
    usage: 'TURNID [--step N | --requests]',
    words: 1,
    options: { step: { type: 'string' }, requests: { type: 'boolean' } },
    prepare([word], options) {
      const id = uuid(word, 'TURNID');
      const seq = number(options.step, '--step', STEP);
      return async (database) => {
        const workspaceId = await workspaceOf(database.system, 'turn', id);
        const db = workspaceId && database.forWorkspace(workspaceId);
        const record = db && (await findTurnRecord(db, workspaceId, id));
        if (!record) throw new CommandError(`There is no turn ${id}`);
        if (seq === undefined && options.requests !== true) {
          return { json: shownWhole(record, new Map()), text: paragraphs(record) };
        }
        const steps = record.steps.filter((step) => seq === undefined || step.seq === seq);
        if (seq !== undefined && steps.length === 0) throw new CommandError(`The turn has no step ${seq}`);
        const reader = new RequestReader(db, workspaceId);
        const requests = new Map<number, WholeRequest | null>();
        for (const { seq: number, kind } of steps) {
          if (kind === 'model') requests.set(number, (await reader.read(id, number)) ?? null);
        }
        return {
          json: shownWhole({ ...record, steps }, requests),
          text: steps.map((step) => wholeStep(step, requests)).join('\n\n'),
        };
      };
    },
  },
};
