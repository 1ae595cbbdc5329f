import type { Logger } from 'pino';
import { withDeadline } from '../../../core/deadline.ts';
import { ApiError } from '../../../core/errors.ts';
import { Places } from '../../../core/places.ts';
import type { WorkspaceContext } from '../../context.ts';
import { checkAgent } from './checkAgent.ts';
import type { AgentWarning } from './warning.ts';

/** A publication waits so long for the check of its draft. */
const DEADLINE_MS = 1_000;
/** Warnings of one publication that are logged; an agent may have thousands of links. */
const MAX_LOGGED = 100;
/**
 * Checks of one workspace at a time: each reads the whole draft, and may wait for a registry longer than its publication does. Workspaces do not
 * wait for each other.
 */
const checks = new Places({ atOnce: Number.MAX_SAFE_INTEGER, ofOne: 2, waitingOfOne: 100 });

/** What a check beside a publication needs. */
export type PublishCheckContext = WorkspaceContext & {
  runtime: { logger?: Pick<Logger, 'warn'> | undefined };
  /** For tests. */
  deadlineMs?: number;
};

/**
 * The warnings of a draft that is about to be published; they are logged, too. Undefined when the check takes too long or fails, which is
 * logged: a publication neither waits for it nor fails with it. Those of a late check are still logged when it ends.
 */
export async function publishWarnings(
  context: PublishCheckContext,
  agentId: string,
): Promise<AgentWarning[] | undefined> {
  const { workspaceId, runtime, deadlineMs = DEADLINE_MS } = context;
  const check = async () => {
    const warnings = await checkAgent(context, agentId);
    if (warnings.length > 0)
      runtime.logger?.warn(
        { workspaceId, agentId, count: warnings.length, warnings: warnings.slice(0, MAX_LOGGED) },
        'a draft that is to be published is not as it should be',
      );
    return warnings;
  };
  // One that has not begun when its publication goes on would be for nothing.
  const checked = checks.run(workspaceId, check, AbortSignal.timeout(deadlineMs));
  try {
    return await withDeadline(checked, deadlineMs, () => new Error(`The check took more than ${deadlineMs} ms.`));
  } catch (error) {
    // The publication says that there is none.
    if (!(error instanceof ApiError)) {
      runtime.logger?.warn({ err: error, workspaceId, agentId }, 'an agent was not checked before it was published');
    }
    return undefined;
  }
}
