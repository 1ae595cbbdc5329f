import type {
  PausedRunFormat3,
  StoredCall,
  StoredPausedRun,
  StoredRun,
  StoredToolOrigin,
  ToolOriginFormat1,
} from '../../db/stored/pausedRun.ts';
import { NOT_KEPT, withoutFiles, withoutToolFiles } from '../models/toolFiles.ts';
import type { CallState, PausedCall, PausedRun } from './paused.ts';

/** A paused run as it is stored in turns.paused. */
export function storedPausedRun(run: PausedRun): PausedRunFormat3 {
  return { format: 3, json: JSON.stringify(storedRun(run)) };
}

function storedRun({ agentId, task, writer, messages, calls }: PausedRun): StoredRun<StoredToolOrigin> {
  return {
    agentId,
    task,
    writer,
    // A run begins after the message that is answered, so it has no message of a user.
    messages: withoutToolFiles(messages, NOT_KEPT).filter((message) => message.role !== 'user'),
    calls: calls.map(({ toolCallId, toolName, origin, state }) => ({
      toolCallId,
      toolName,
      origin,
      state: storedState(state),
    })),
  };
}

function storedState(state: CallState): StoredCall<StoredToolOrigin>['state'] {
  if (state.kind === 'delegated') return { kind: 'delegated', paused: storedRun(state.paused) };
  return state.kind === 'done' ? { kind: 'done', output: withoutFiles(state.output, NOT_KEPT) } : state;
}

/** The paused run in turns.paused, whatever format it is stored in. Throws an error for a format that this version does not know. */
export function pausedRunOf(stored: StoredPausedRun): PausedRun {
  switch (stored.format) {
    case undefined:
      return runOf(stored, originOfFormat1);
    case 2:
      return runOf(stored, (origin) => origin);
    case 3:
      return runOf(JSON.parse(stored.json) as StoredRun<StoredToolOrigin>, (origin) => origin);
    default:
      throw new Error(`A turn is paused in format ${(stored as { format: unknown }).format}, which is not known here.`);
  }
}

function runOf<Origin>(stored: StoredRun<Origin>, originOf: (origin: Origin) => StoredToolOrigin): PausedRun {
  const { agentId, task, writer, messages, calls } = stored;
  return { agentId, task, writer, messages, calls: calls.map((call) => callOf(call, originOf)) };
}

function callOf<Origin>(
  { toolCallId, toolName, origin, state }: StoredCall<Origin>,
  originOf: (origin: Origin) => StoredToolOrigin,
): PausedCall {
  return {
    toolCallId,
    toolName,
    origin: origin && originOf(origin),
    state: state.kind === 'delegated' ? { kind: 'delegated', paused: runOf(state.paused, originOf) } : state,
  };
}

function originOfFormat1(origin: ToolOriginFormat1): StoredToolOrigin {
  switch (origin.kind) {
    case 'http_tool':
      return { kind: origin.kind, id: origin.id, operationId: origin.operation };
    case 'external_mcp':
    case 'native_mcp':
      return { kind: origin.kind, id: origin.id, toolName: origin.operation };
    default:
      return origin;
  }
}
