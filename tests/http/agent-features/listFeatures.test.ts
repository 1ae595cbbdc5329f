import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { allNotFound, answersForMissing } from '../agents/agents.ts';
import { FOLLOW_UP_NEEDS, KEYS } from './features.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const list = (id: string) => app.api('get', `/agents/${id}/features`);

describe('200', () => {
  test('a new agent has all eight features, off, with every setting null', async () => {
    const { publicId } = await makeAgent(app);
    const { status, body } = await list(publicId);
    const nothing = {
      'follow-up': {
        afterHours: null,
        inactivityMinutes: null,
        intervalMinutes: null,
        maxAttempts: null,
        businessHoursStart: null,
        businessHoursEnd: null,
        prompt: null,
      },
      'message-delay': { type: null },
      'long-term-memory': { customInstructions: null },
      audio: { listeningEnabled: false, responseEnabled: false, voice: null },
    };
    expect(status).toBe(200);
    expect(body).toEqual(
      KEYS.map(([key, label]) => ({
        key,
        label,
        enabled: false,
        config: (nothing as Record<string, object>)[key] ?? {},
      })),
    );
  });

  test.each(KEYS)(
    '%s, and no other feature, is on when its field of the agent is true',
    async (key, _label, toggle) => {
      const { publicId } = await makeAgent(app, { ...FOLLOW_UP_NEEDS, [toggle]: true });
      const { body } = await list(publicId);
      expect(
        body.filter(({ enabled }: { enabled: boolean }) => enabled).map((feature: { key: string }) => feature.key),
      ).toEqual([key]);
    },
  );

  test('audio is on when only audio responses are', async () => {
    const { publicId } = await makeAgent(app, { audioResponseEnabled: true, ttsVoice: 'alloy' });
    const { body } = await list(publicId);
    expect(body[6]).toEqual({
      key: 'audio',
      label: 'Audio',
      enabled: true,
      config: { listeningEnabled: false, responseEnabled: true, voice: 'alloy' },
    });
  });
});

describe('200, on a server with a search service', () => {
  test.each([
    ['SearXNG', { searxng: { baseUrl: 'http://127.0.0.1:9' } }],
    ['Tavily', { tavily: { apiKey: 'k', baseUrl: 'http://127.0.0.1:9' } }],
    ['Brave', { brave: { apiKey: 'k', baseUrl: 'http://127.0.0.1:9' } }],
  ])('%s: the label of web search does not say that it is not configured', async (_name, webSearch) => {
    const configured = await startTestApp({ webSearch, database: app.database });
    try {
      const { publicId } = await makeAgent(configured);
      const path = `/agents/${publicId}/features`;
      const list = await configured.api('get', path);
      const one = await configured.api('get', `${path}/web-search`);
      const changed = await configured.api('patch', `${path}/web-search`).send({ enabled: true });
      expect(list.body.at(-1)).toMatchObject({ key: 'web-search', label: 'Web search' });
      expect(one.body.label).toBe('Web search');
      expect(changed.body).toEqual({ ...one.body, enabled: true });
    } finally {
      await configured.close();
    }
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test('an unknown agent, a deleted one and another workspace’s get the same response', async () => {
    const { answers } = await answersForMissing(app, list);
    expect(answers).toEqual(allNotFound);
  });
});
