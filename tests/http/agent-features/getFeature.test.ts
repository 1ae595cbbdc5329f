import { newId } from '../../../core/ids.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { allNotFound, answersForMissing } from '../agents/agents.ts';
import { KEYS, SETTINGS } from './features.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const get = (id: string, key: string) => app.api('get', `/agents/${id}/features/${key}`);

describe('200', () => {
  test.each(KEYS)('%s is the same as in the list', async (key) => {
    const { publicId } = await makeAgent(app);
    const list = await app.api('get', `/agents/${publicId}/features`);
    const { status, body } = await get(publicId, key);
    expect(status).toBe(200);
    expect(body).toEqual(list.body.find((feature: { key: string }) => feature.key === key));
  });

  test.each(SETTINGS)('%s shows %s with the value of the agent’s %s', async (key, setting, field, values) => {
    const { publicId } = await makeAgent(app);
    for (const value of values) {
      await app
        .api('patch', `/agents/${publicId}`)
        .send({ [field]: value })
        .expect(200);
      const { body } = await get(publicId, key);
      expect(body.config[setting]).toEqual(value);
    }
  });

  test('business hours are shown as the agent has them', async () => {
    const { publicId } = await makeAgent(app, {
      followUpBusinessHoursStart: '09:00:00',
      followUpBusinessHoursEnd: '17:30:00',
    });
    expect((await get(publicId, 'follow-up')).body.config).toMatchObject({
      businessHoursStart: '09:00:00',
      businessHoursEnd: '17:30:00',
    });
  });
});

describe('404', () => {
  test('AGENT_NOT_FOUND: an unknown agent, a deleted one and another workspace’s get the same response', async () => {
    const { answers } = await answersForMissing(app, (id) => get(id, 'audio'));
    expect(answers).toEqual(allNotFound);
  });

  test('AGENT_NOT_FOUND comes before FEATURE_NOT_FOUND', async () => {
    expect((await get(newId(), 'nothing')).body.code).toBe('AGENT_NOT_FOUND');
  });

  test.each(['nothing', 'Audio', 'audio ', 'constructor', '__proto__', 'followUpEnabled'])(
    'FEATURE_NOT_FOUND: %s is no feature',
    async (key) => {
      const { publicId } = await makeAgent(app);
      const { status, body } = await get(publicId, encodeURIComponent(key));
      expect([status, body.code]).toEqual([404, 'FEATURE_NOT_FOUND']);
    },
  );
});
