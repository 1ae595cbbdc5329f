import { decideAsOperator } from '../../db/queries/turns/approvals.ts';
import { inTransaction } from '../../db/transaction.ts';
import { continueConversation } from '../../jobs/continueConversation.ts';
import { conversation, send } from '../http/messages/turns.ts';
import {
  automation,
  contextOf,
  dispatchedRun,
  execution,
  run,
  swept,
  useAutomationApp,
} from '../support/automations/executions.ts';
import { payCall } from '../support/turns/waitingCalls.ts';

const DAY_MS = 86_400_000;

const here = useAutomationApp();

describe('a tool that needs an approval', () => {
  /** An execution that waits for the approval of one call. */
  async function waits() {
    here.server.script({ reply: 'I will pay.', toolCalls: [payCall('Oslo')] });
    const made = await dispatchedRun(here.app, await here.payer(), { hitlMode: 'pause_on_approval' });
    await run(here.app, made.executionId);
    expect(await execution(here.app, made.executionId)).toMatchObject({ status: 'RUNNING', completed_at: null });
    const [approval] = await here.app.workspace.db.selectFrom('approvals').select('id').execute();
    return { ...made, approval: approval?.id ?? '' };
  }
  const decide = (id: string, decision: 'approved' | 'rejected') =>
    inTransaction(here.app.database.database.system, (trx) => decideAsOperator(trx, id, decision, here.clock.now()));
  const goOn = (conversationId: string) =>
    continueConversation.run({ workspaceId: here.app.workspace.workspaceId, conversationId }, contextOf(here.app));

  test('is called with auto_approve', async () => {
    here.server.script({ reply: '', toolCalls: [payCall('Oslo')] });
    const { executionId } = await dispatchedRun(here.app, await here.payer(), { hitlMode: 'auto_approve' });
    await run(here.app, executionId);
    expect(await execution(here.app, executionId)).toMatchObject({ status: 'COMPLETED' });
    expect(here.tools.received).toHaveLength(1);
  });

  test.each([
    ['approved', 1],
    ['rejected', 0],
  ] as const)('keeps the execution running with pause_on_approval until it is %s', async (decision, calls) => {
    const { id, executionId, conversationId, approval } = await waits();
    here.clock.advance(3 * DAY_MS);
    expect(await swept(here.app)).toEqual([]);
    await run(here.app, executionId);
    expect(await automation(here.app, id)).toMatchObject({ last_run_status: 'RUNNING' });
    await decide(approval, decision);
    expect(await swept(here.app)).toEqual([]);
    await goOn(conversationId);
    expect(await execution(here.app, executionId)).toMatchObject({
      status: 'COMPLETED',
      completed_at: here.clock.now(),
    });
    expect(await automation(here.app, id)).toMatchObject({ last_run_status: 'COMPLETED' });
    expect(here.tools.received).toHaveLength(calls);
  });

  test('and that nobody decides on within 7 days ends the execution, and nothing waits any more', async () => {
    const { id, executionId, conversationId, approval } = await waits();
    here.clock.advance(7 * DAY_MS);
    expect(await swept(here.app)).toEqual([]);
    await run(here.app, executionId);
    expect(await execution(here.app, executionId)).toMatchObject({ status: 'RUNNING' });
    here.clock.advance(1);
    expect(await swept(here.app)).toEqual([executionId]);
    await run(here.app, executionId);
    expect(await execution(here.app, executionId)).toMatchObject({
      status: 'FAILED',
      error_code: 'APPROVAL_EXPIRED',
      error_message: expect.stringContaining('Nobody decided within 7 days'),
    });
    expect(await automation(here.app, id)).toMatchObject({ last_run_status: 'FAILED', failures_in_row: 1 });
    expect(await decide(approval, 'approved')).toMatchObject({ decidedNow: false, status: 'rejected' });
    expect(await continueConversation.sweep(contextOf(here.app))).toEqual({ due: [] });
    const agent = (await conversation(here.app, conversationId)).agentPublicId;
    await send(here.app, agent, { conversationId, content: 'approve' }).expect(200);
    expect(here.tools.received).toHaveLength(0);
    expect(await execution(here.app, executionId)).toMatchObject({ status: 'FAILED' });
  });

  test('and after whose approval the agent cannot go on for a day ends the execution', async () => {
    const { executionId, conversationId, approval } = await waits();
    here.server.fallback = { status: 500 };
    await decide(approval, 'approved');
    await expect(goOn(conversationId)).rejects.toMatchObject({ code: 'MODEL_PROVIDER_ERROR' });
    expect(await swept(here.app)).toEqual([]);
    here.clock.advance(DAY_MS + 1);
    expect(await swept(here.app)).toEqual([executionId]);
    await run(here.app, executionId);
    expect(await execution(here.app, executionId)).toMatchObject({
      status: 'FAILED',
      error_message: expect.stringMatching(/^MODEL_PROVIDER_ERROR: The agent could not go on after the decision\./),
    });
    expect(here.tools.received).toHaveLength(1);
  });

  test('is decided by a message in the conversation as well', async () => {
    const { executionId, conversationId } = await waits();
    const agent = (await conversation(here.app, conversationId)).agentPublicId;
    await send(here.app, agent, { conversationId, content: 'approve' }).expect(200);
    expect(here.tools.received).toHaveLength(1);
    expect(await execution(here.app, executionId)).toMatchObject({ status: 'COMPLETED' });
  });
});
