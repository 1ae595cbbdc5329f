import { newId } from '../../../core/ids.ts';
import { listCommands, makeCommand } from '../../support/agents/agentCommands.ts';
import { makeAgent, makeReadyAgent, publish, readAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { allNotFound, answersForMissing } from '../agents/agents.ts';
import { allCommandsNotFound, answersForMissingCommand, INVALID } from './commands.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

function update(agentId: string, id: string, body: object) {
  return app.api('patch', `/agents/${agentId}/commands/${id}`).send(body);
}

describe('200', () => {
  test.each([
    { name: 'New' },
    { command: 'new' },
    { description: 'New.' },
    { prompt: 'New.' },
    { status: 'inactive' },
    { name: 'New', command: 'new', description: '', prompt: 'New.', status: 'inactive' },
  ])('%j changes these fields and nothing else', async (change) => {
    const { publicId } = await makeAgent(app);
    const before = await makeCommand(app, publicId, { description: 'Old.' });
    clock.advance(1000);
    const { status, body } = await update(publicId, before.publicId, change);
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, ...change, updatedAt: clock.now().toISOString() });
    expect((await app.api('get', `/agents/${publicId}/commands/${before.publicId}`)).body).toEqual(body);
  });

  test('a request without fields changes nothing, not even updatedAt', async () => {
    const { publicId } = await makeAgent(app);
    const before = await makeCommand(app, publicId);
    clock.advance(1000);
    const { status, body } = await update(publicId, before.publicId, {});
    expect([status, body]).toEqual([200, before]);
  });

  test('the usage counters are kept, and a command can be switched on again', async () => {
    const { publicId } = await makeAgent(app);
    const { publicId: id } = await makeCommand(app, publicId);
    const used = { usage_count: 7, last_used_at: new Date('2026-11-21T10:00:00Z') };
    await app.workspace.db.updateTable('agent_commands').set(used).where('id', '=', id).execute();
    for (const status of ['inactive', 'active']) {
      const { body } = await update(publicId, id, { status });
      expect(body).toMatchObject({ status, usageCount: 7, lastUsedAt: '2026-11-21T10:00:00.000Z' });
    }
  });

  test('a command’s own name and slash word are not taken, and its old ones are free', async () => {
    const { publicId } = await makeAgent(app);
    const { publicId: id, name, command } = await makeCommand(app, publicId);
    expect((await update(publicId, id, { name, command })).status).toBe(200);
    expect((await update(publicId, id, { name: 'Other', command: 'other' })).status).toBe(200);
    await makeCommand(app, publicId, { name, command });
  });

  test('a command does not belong to versions: there is nothing to publish', async () => {
    const agent = await makeReadyAgent(app);
    const { publicId: id } = await makeCommand(app, agent.publicId);
    const before = await publish(app, agent.publicId);
    await update(agent.publicId, id, { prompt: 'New.' }).expect(200);
    expect(await readAgent(app, agent.publicId)).toEqual(before);
  });
});

describe('400', () => {
  test.each([
    ...INVALID,
    ['a name of null', { name: null }],
    ['a description of null', { description: null }],
    ['a status that does not exist', { status: 'deleted' }],
  ])('%s: nothing is changed', async (_what, fields) => {
    const { publicId } = await makeAgent(app);
    const before = await makeCommand(app, publicId);
    const { status, body } = await update(publicId, before.publicId, { status: 'inactive', ...fields });
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(await listCommands(app, publicId)).toEqual([before]);
  });
});

describe('404', () => {
  test('AGENT_NOT_FOUND: an unknown agent, a deleted one and another workspace’s get the same response', async () => {
    const { answers } = await answersForMissing(app, (id) => update(id, newId(), { name: 'New' }));
    expect(answers).toEqual(allNotFound);
  });

  test.each([{ name: 'New' }, {}])(
    'COMMAND_NOT_FOUND: an unknown command, a deleted one, another agent’s and another workspace’s get the same response; the existing ones stay (%j)',
    async (change) => {
      const { answers, stay } = await answersForMissingCommand(app, (agentId, id) => update(agentId, id, change));
      expect(answers).toEqual(allCommandsNotFound);
      await stay();
    },
  );
});

describe.each([
  ['COMMAND_NAME_TAKEN', 'name'],
  ['COMMAND_SLUG_TAKEN', 'command'],
] as const)('409 %s', (code, field) => {
  test('the value of another command of the agent is refused, and nothing is changed', async () => {
    const { publicId } = await makeAgent(app);
    const [taken, other] = [await makeCommand(app, publicId), await makeCommand(app, publicId)];
    const { status, body } = await update(publicId, other.publicId, { [field]: taken[field], prompt: 'New.' });
    expect([status, body.code]).toEqual([409, code]);
    expect(await listCommands(app, publicId)).toEqual([other, taken]);
  });

  test('of concurrent requests exactly one gets it', async () => {
    const { publicId } = await makeAgent(app);
    const commands = await Promise.all([1, 2, 3, 4].map(() => makeCommand(app, publicId)));
    const answers = await Promise.all(commands.map((each) => update(publicId, each.publicId, { [field]: 'wanted' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });
});
