import { listCommands, makeCommand } from '../../support/agents/agentCommands.ts';
import { makeAgent, makeReadyAgent, publish, readAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { allNotFound, answersForMissing } from '../agents/agents.ts';
import { INVALID } from './commands.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const COMMAND = { name: 'Summarize', command: 'summarize', prompt: 'Sum it up.' };

function create(agentId: string, body: object, key?: string) {
  return app.api('post', `/agents/${agentId}/commands`, key).send(body);
}

describe('201', () => {
  test('the command is active and unused, and reads the same as in the response', async () => {
    const { publicId } = await makeAgent(app);
    const { status, body } = await create(publicId, { ...COMMAND, description: 'For a colleague.' });
    const now = clock.now().toISOString();
    expect(status).toBe(201);
    expect(body).toEqual({
      ...COMMAND,
      publicId: expect.any(String),
      description: 'For a colleague.',
      status: 'active',
      usageCount: 0,
      lastUsedAt: null,
      createdAt: now,
      updatedAt: now,
    });
    expect((await app.api('get', `/agents/${publicId}/commands/${body.publicId}`)).body).toEqual(body);
  });

  test.each([{}, { description: null }])('has no description with %j', async (fields) => {
    const { publicId } = await makeAgent(app);
    expect((await create(publicId, { ...COMMAND, ...fields })).body.description).toBeNull();
  });

  test.each([
    { name: 'é'.repeat(150), command: 'a'.repeat(100), description: '🦊'.repeat(500), prompt: '🦊'.repeat(10_000) },
    { name: '/', command: '0', description: '', prompt: ' ' },
    { name: 'a', command: 'a--b-1', prompt: '{{city}} $1 <script>' },
  ])('values at their bounds are stored unchanged', async (fields) => {
    const { publicId } = await makeAgent(app);
    expect((await create(publicId, fields)).body).toMatchObject(fields);
  });

  test('a command does not belong to versions: there is nothing to publish', async () => {
    const agent = await makeReadyAgent(app);
    const before = await publish(app, agent.publicId);
    await create(agent.publicId, COMMAND).expect(201);
    expect(await readAgent(app, agent.publicId)).toEqual(before);
  });

  test('name and slash word are unique within one agent, and case-sensitive', async () => {
    const [one, two] = [await makeAgent(app), await makeAgent(app)];
    for (const { publicId } of [one, two]) expect((await create(publicId, COMMAND)).status).toBe(201);
    expect((await create(one.publicId, { ...COMMAND, name: 'SUMMARIZE', command: 'summarise' })).status).toBe(201);
  });

  test('the name and the slash word of a deleted command are free', async () => {
    const { publicId } = await makeAgent(app);
    const first = await makeCommand(app, publicId, COMMAND);
    await app.api('delete', `/agents/${publicId}/commands/${first.publicId}`).expect(204);
    const { status, body } = await create(publicId, COMMAND);
    expect(status).toBe(201);
    expect(await listCommands(app, publicId)).toEqual([body]);
  });
});

describe('400', () => {
  test.each([
    ...INVALID,
    ['no name', { name: undefined }],
    ['no word', { command: undefined }],
    ['no prompt at all', { prompt: undefined }],
    ['a status', { status: 'inactive' }],
  ])('%s: nothing is stored', async (_what, fields) => {
    const { publicId } = await makeAgent(app);
    const { status, body } = await create(publicId, { ...COMMAND, ...fields });
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(await listCommands(app, publicId)).toEqual([]);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test('an unknown agent, a deleted one and another workspace’s get the same response, and the latter gets none', async () => {
    const { answers, foreign } = await answersForMissing(app, (id) => create(id, COMMAND));
    expect(answers).toEqual(allNotFound);
    expect(await listCommands(app, foreign.publicId, app.stranger.apiKey)).toEqual([]);
  });
});

describe.each([
  ['COMMAND_NAME_TAKEN', { command: 'other' }],
  ['COMMAND_SLUG_TAKEN', { name: 'Other' }],
])('409 %s', (code, fields) => {
  test('the value of another command of the agent, active or not', async () => {
    const { publicId } = await makeAgent(app);
    const first = await makeCommand(app, publicId, COMMAND);
    const refused = await create(publicId, { ...COMMAND, ...fields });
    expect([refused.status, refused.body.code]).toEqual([409, code]);
    await app.api('patch', `/agents/${publicId}/commands/${first.publicId}`).send({ status: 'inactive' }).expect(200);
    expect((await create(publicId, { ...COMMAND, ...fields })).body.code).toBe(code);
    expect(await listCommands(app, publicId)).toHaveLength(1);
  });

  test('of concurrent requests exactly one gets it', async () => {
    const { publicId } = await makeAgent(app);
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((own) =>
        create(publicId, 'command' in fields ? { ...COMMAND, command: own } : { ...COMMAND, name: own }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect(await listCommands(app, publicId)).toHaveLength(1);
  });
});
