import { newId } from '../../../core/ids.ts';
import { listCommands, makeCommand } from '../../support/agents/agentCommands.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { allNotFound as agentNotFound, answersForMissing as answersForMissingAgent } from '../agents/agents.ts';
import { allNotFound, answersForMissing } from './commands.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const remove = (agentId: string, id: string) => app.api('delete', `/agents/${agentId}/commands/${id}`);

describe('204', () => {
  test('the command is gone, the others stay, its name and its word are free', async () => {
    const { publicId } = await makeAgent(app);
    const [kept, gone] = [await makeCommand(app, publicId), await makeCommand(app, publicId)];
    const { status, text } = await remove(publicId, gone.publicId);
    expect([status, text]).toEqual([204, '']);
    expect((await app.api('get', `/agents/${publicId}/commands/${gone.publicId}`)).body.code).toBe('COMMAND_NOT_FOUND');
    expect(await listCommands(app, publicId)).toEqual([kept]);
    await makeCommand(app, publicId, { name: gone.name, command: gone.command });
  });

  test('of many at once one deletes it', async () => {
    const { publicId } = await makeAgent(app);
    const command = await makeCommand(app, publicId);
    const answers = await Promise.all([1, 2, 3].map(() => remove(publicId, command.publicId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
  });
});

describe('404', () => {
  test('AGENT_NOT_FOUND: for one that never was, one that is deleted and one of another workspace alike', async () => {
    const { answers } = await answersForMissingAgent(app, (id) => remove(id, newId()));
    expect(answers).toEqual(agentNotFound);
  });

  test('COMMAND_NOT_FOUND: never was, deleted, of another agent and of another workspace alike, which stay', async () => {
    const { answers, stay } = await answersForMissing(app, remove);
    expect(answers).toEqual(allNotFound);
    await stay();
  });
});
