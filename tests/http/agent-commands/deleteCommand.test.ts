import { newId } from '../../../core/ids.ts';
import { listCommands, makeCommand } from '../../support/agents/agentCommands.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { allNotFound, answersForMissing } from '../agents/agents.ts';
import { allCommandsNotFound, answersForMissingCommand } from './commands.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const remove = (agentId: string, id: string) => app.api('delete', `/agents/${agentId}/commands/${id}`);

describe('204', () => {
  test('deletes this command only, and frees its name and slash word', async () => {
    const { publicId } = await makeAgent(app);
    const [kept, gone] = [await makeCommand(app, publicId), await makeCommand(app, publicId)];
    const { status, text } = await remove(publicId, gone.publicId);
    expect([status, text]).toEqual([204, '']);
    expect((await app.api('get', `/agents/${publicId}/commands/${gone.publicId}`)).body.code).toBe('COMMAND_NOT_FOUND');
    expect(await listCommands(app, publicId)).toEqual([kept]);
    await makeCommand(app, publicId, { name: gone.name, command: gone.command });
  });

  test('of concurrent requests exactly one deletes it', async () => {
    const { publicId } = await makeAgent(app);
    const command = await makeCommand(app, publicId);
    const answers = await Promise.all([1, 2, 3].map(() => remove(publicId, command.publicId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
  });
});

describe('404', () => {
  test('AGENT_NOT_FOUND: an unknown agent, a deleted one and another workspace’s get the same response', async () => {
    const { answers } = await answersForMissing(app, (id) => remove(id, newId()));
    expect(answers).toEqual(allNotFound);
  });

  test('COMMAND_NOT_FOUND: an unknown command, a deleted one, another agent’s and another workspace’s get the same response; the existing ones stay', async () => {
    const { answers, stay } = await answersForMissingCommand(app, remove);
    expect(answers).toEqual(allCommandsNotFound);
    await stay();
  });
});
