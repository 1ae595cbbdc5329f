import { listCommands, makeCommand } from '../../support/agents/agentCommands.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { allNotFound, answersForMissing } from '../agents/agents.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

describe('200', () => {
  test('a new agent has no commands', async () => {
    const { publicId } = await makeAgent(app);
    expect(await listCommands(app, publicId)).toEqual([]);
  });

  test('all commands of the agent, active or not, newest first, those of the same moment by id', async () => {
    const { publicId } = await makeAgent(app);
    await makeCommand(app, (await makeAgent(app)).publicId);
    const made = [];
    for (let number = 0; number < 25; number += 1) {
      made.unshift(await makeCommand(app, publicId));
      if (number % 3 === 0) clock.advance(1);
    }
    const [newest] = made;
    const off = await app.api('patch', `/agents/${publicId}/commands/${newest?.publicId}`).send({ status: 'inactive' });
    expect(await listCommands(app, publicId)).toEqual([off.body, ...made.slice(1)]);
  });

  test('deleted commands are not listed', async () => {
    const { publicId } = await makeAgent(app);
    const [one, two] = [await makeCommand(app, publicId), await makeCommand(app, publicId)];
    await app.api('delete', `/agents/${publicId}/commands/${two.publicId}`).expect(204);
    expect(await listCommands(app, publicId)).toEqual([one]);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test('an unknown agent, a deleted one and another workspace’s get the same response', async () => {
    const { answers } = await answersForMissing(app, (id) => app.api('get', `/agents/${id}/commands`));
    expect(answers).toEqual(allNotFound);
  });
});
