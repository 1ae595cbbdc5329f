import { newId } from '../../../core/ids.ts';
import { makeCommand } from '../../support/agents/agentCommands.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { allNotFound, answersForMissing } from '../agents/agents.ts';
import { allCommandsNotFound, answersForMissingCommand } from './commands.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const get = (agentId: string, id: string) => app.api('get', `/agents/${agentId}/commands/${id}`);

describe('200', () => {
  test('shows how often and when the command was last used', async () => {
    const { publicId } = await makeAgent(app);
    const made = await makeCommand(app, publicId);
    expect((await get(publicId, made.publicId)).body).toEqual(made);
    const used = new Date('2026-11-21T16:42:10.123Z');
    await app.workspace.db
      .updateTable('agent_commands')
      .set({ usage_count: 3_000_000_000, last_used_at: used })
      .where('id', '=', made.publicId)
      .execute();
    const { status, body } = await get(publicId, made.publicId);
    expect(status).toBe(200);
    expect(body).toEqual({ ...made, usageCount: 3_000_000_000, lastUsedAt: used.toISOString() });
  });
});

describe('404', () => {
  test('AGENT_NOT_FOUND: an unknown agent, a deleted one and another workspace’s get the same response', async () => {
    const { answers } = await answersForMissing(app, (id) => get(id, newId()));
    expect(answers).toEqual(allNotFound);
  });

  test('AGENT_NOT_FOUND: the commands of a deleted agent are deleted with it', async () => {
    const { publicId } = await makeAgent(app);
    const command = await makeCommand(app, publicId);
    await app.api('delete', `/agents/${publicId}`).expect(204);
    expect((await get(publicId, command.publicId)).body.code).toBe('AGENT_NOT_FOUND');
  });

  test('COMMAND_NOT_FOUND: an unknown command, a deleted one, another agent’s and another workspace’s get the same response', async () => {
    expect((await answersForMissingCommand(app, get)).answers).toEqual(allCommandsNotFound);
  });
});
