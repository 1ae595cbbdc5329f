import { newId } from '../../../core/ids.ts';
import {
  makeAgent,
  makeReadyAgent,
  makeVariable,
  publish,
  readAgent,
  withoutRequestId,
} from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('200', () => {
  test('changes the fields of the agent itself', async () => {
    const agent = await makeAgent(app);
    const { status, body } = await app
      .api('patch', `/agents/${agent.publicId}/prompt`)
      .send({ systemPrompt: 'Be kind.', dynamicPromptEnabled: true });
    expect(status).toBe(200);
    expect(body).toEqual({ systemPrompt: 'Be kind.', dynamicPromptEnabled: true, variables: [] });
    expect(await readAgent(app, agent.publicId)).toMatchObject({
      systemPrompt: 'Be kind.',
      dynamicPromptEnabled: true,
    });
  });

  test('an absent field stays as it is', async () => {
    const agent = await makeAgent(app, {
      systemPrompt: 'Be kind.',
      dynamicPromptEnabled: true,
      webSearchEnabled: true,
    });
    const first = await app.api('patch', `/agents/${agent.publicId}/prompt`).send({ systemPrompt: 'Be brief.' });
    expect(first.body).toMatchObject({ systemPrompt: 'Be brief.', dynamicPromptEnabled: true });
    const second = await app.api('patch', `/agents/${agent.publicId}/prompt`).send({ dynamicPromptEnabled: false });
    expect(second.body).toMatchObject({ systemPrompt: 'Be brief.', dynamicPromptEnabled: false });
    expect(await readAgent(app, agent.publicId)).toMatchObject({ webSearchEnabled: true });
  });

  test('null clears the system prompt and switches the dynamic prompt off', async () => {
    const agent = await makeAgent(app, { systemPrompt: 'Be kind.', dynamicPromptEnabled: true });
    const { body } = await app
      .api('patch', `/agents/${agent.publicId}/prompt`)
      .send({ systemPrompt: null, dynamicPromptEnabled: null });
    expect(body).toMatchObject({ systemPrompt: null, dynamicPromptEnabled: false });
  });

  test('a reference to an unknown variable stays in the text', async () => {
    const agent = await makeAgent(app);
    const variable = await makeVariable(app, agent.publicId, { name: 'known' });
    const systemPrompt = '{{known}} and {{unknown}} and {{ not closed';
    const { status, body } = await app.api('patch', `/agents/${agent.publicId}/prompt`).send({ systemPrompt });
    expect(status).toBe(200);
    expect(body).toEqual({ systemPrompt, dynamicPromptEnabled: false, variables: [variable] });
  });

  test.each([{ systemPrompt: 'Be brief.' }, { dynamicPromptEnabled: true }])(
    'a change to %j is unpublished until it is reverted',
    async (change) => {
      const agent = await makeReadyAgent(app, { systemPrompt: 'Be kind.' });
      await publish(app, agent.publicId);
      await app.api('patch', `/agents/${agent.publicId}/prompt`).send(change).expect(200);
      expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
      const before = { systemPrompt: 'Be kind.', dynamicPromptEnabled: false };
      await app.api('patch', `/agents/${agent.publicId}/prompt`).send(before).expect(200);
      expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(false);
    },
  );

  test('accepts 200,000 characters, counted as code points', async () => {
    const agent = await makeAgent(app);
    const systemPrompt = '😀'.repeat(200_000);
    const { status, body } = await app.api('patch', `/agents/${agent.publicId}/prompt`).send({ systemPrompt });
    expect(status).toBe(200);
    expect(body.systemPrompt).toBe(systemPrompt);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    ['a prompt of 200,001 characters', { systemPrompt: 'x'.repeat(200_001) }, '/body/systemPrompt'],
    ['a prompt that is no text', { systemPrompt: 7 }, '/body/systemPrompt'],
    [
      'a toggle that is no boolean',
      { systemPrompt: 'New.', dynamicPromptEnabled: 'yes' },
      '/body/dynamicPromptEnabled',
    ],
    ['a field of the agent that is no prompt field', { systemPrompt: 'New.', webSearchEnabled: true }, '/body'],
  ])('refuses %s and changes nothing', async (_what, change, path) => {
    const agent = await makeAgent(app, { systemPrompt: 'Old.' });
    const { status, body } = await app.api('patch', `/agents/${agent.publicId}/prompt`).send(change);
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body.details[0].path).toContain(path);
    expect(await readAgent(app, agent.publicId)).toEqual(agent);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent is treated as one that does not exist, and keeps its prompt", async () => {
    const foreign = await makeAgent(app, { systemPrompt: 'Mine.' }, app.stranger.apiKey);
    const change = { systemPrompt: 'Stolen.' };
    const missing = await app.api('patch', `/agents/${newId()}/prompt`).send(change);
    const { status, body } = await app.api('patch', `/agents/${foreign.publicId}/prompt`).send(change);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    const kept = await app.api('get', `/agents/${foreign.publicId}/prompt`, app.stranger.apiKey);
    expect(kept.body.systemPrompt).toBe('Mine.');
  });
});
