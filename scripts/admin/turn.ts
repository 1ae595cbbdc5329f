import {
  findTurnRecord,
  type LoggedTurn,
  selectTurns,
  type TurnRecord,
  workspaceOf,
} from '../../db/queries/turns/turnLog.ts';
import { type Command, CommandError, number, table, uuid } from './command.ts';
import { printable, shortJson, usd } from './printable.ts';

const LIMIT = { min: 1, max: 1000, integer: true };
const DEFAULT_LIMIT = 50;
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

function shownWhole({ turn, messages, steps, approvals }: TurnRecord) {
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
      costUsd: step.cost_usd,
      startedAt: step.started_at,
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

const took = ({ started_at, ended_at }: LoggedTurn): string =>
  ended_at ? `${ended_at.getTime() - started_at.getTime()} ms` : '';

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
    const { seq, kind, depth, status, duration_ms } = step;
    const name = printable(step.provider === null ? step.name : `${step.provider}/${step.name}`);
    const parts = [
      `depth ${depth}`,
      status,
      ...(duration_ms === null ? [] : [`${duration_ms} ms`]),
      ...(kind === 'model' ? [spent(step)] : []),
    ];
    const [input, output] = [shortJson(step.input, SHOWN), shortJson(step.output, SHOWN)];
    return [
      `${seq} ${kind} ${name}: ${parts.join(', ')}`,
      ...(input === '' ? [] : [`  input  ${input}`]),
      ...(output === '' ? [] : [`  output ${output}`]),
    ].join('\n');
  });
  if (told.length === 0) told.push(NO_STEPS);
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
    usage: 'TURNID',
    words: 1,
    options: {},
    prepare([word]) {
      const id = uuid(word, 'TURNID');
      return async (database) => {
        const workspaceId = await workspaceOf(database.system, 'turn', id);
        const record = workspaceId && (await findTurnRecord(database.forWorkspace(workspaceId), workspaceId, id));
        if (!record) throw new CommandError(`There is no turn ${id}`);
        return { json: shownWhole(record), text: paragraphs(record) };
      };
    },
  },
};
