// Longer than most: for each of eight features this route and updateAgent must agree.
import { newId } from '../../../core/ids.ts';
import { documentSchema, namedSchemas, type SchemaName } from '../../../core/namedSchemas.ts';
import { FEATURES } from '../../../domain/agents/config/features.ts';
import type { components } from '../../../generated/api.ts';
import { makeAgent, makeReadyAgent, publish, readAgent } from '../../support/agents/agents.ts';
import { untilOneWaits } from '../../support/db/database.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { allNotFound, answersForMissing } from '../agents/agents.ts';
import { FOLLOW_UP_NEEDS, KEYS, SETTINGS, TIMES } from './features.ts';

type AgentUpdate = components['schemas']['AgentUpdate'];

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

function update(id: string, key: string, body: object, apiKey?: string) {
  return app.api('patch', `/agents/${id}/features/${key}`, apiKey).send(body);
}

async function expectRefused(id: string, key: string, body: object, paths?: string[]): Promise<void> {
  const before = await readAgent(app, id);
  const answer = await update(id, key, body);
  expect([answer.status, answer.body.code]).toEqual([422, 'FEATURE_VALIDATION_ERROR']);
  if (paths) expect(answer.body.details.map(({ path }: { path: string }) => path)).toEqual(paths);
  expect(await readAgent(app, id)).toEqual(before);
}

describe('this route and updateAgent agree', () => {
  test.each(SETTINGS)('%s: %s set here or as %s of the agent reads the same', async (key, setting, field, values) => {
    const [here, there] = [await makeAgent(app), await makeAgent(app)];
    for (const value of [...values, null, values[0]]) {
      const byFeature = await update(here.publicId, key, { config: { [setting]: value } });
      const byAgent = await app.api('patch', `/agents/${there.publicId}`).send({ [field]: value });
      expect([byFeature.status, byAgent.status]).toEqual([200, 200]);
      expect((await readAgent(app, here.publicId))[field as 'ttsVoice']).toEqual(byAgent.body[field]);
      const read = await app.api('get', `/agents/${there.publicId}/features/${key}`);
      expect(read.body).toEqual(byFeature.body);
      expect(read.body.config[setting]).toEqual(byAgent.body[field]);
    }
  });

  test.each(SETTINGS)(
    '%s: %s accepts and refuses the same values as %s',
    async (key, setting, field, _taken, refused) => {
      const { publicId } = await makeAgent(app);
      for (const value of refused) {
        const byAgent = await app.api('patch', `/agents/${publicId}`).send({ [field]: value });
        expect([value, byAgent.status]).toEqual([value, 400]);
        await expectRefused(publicId, key, { config: { [setting]: value } }, [`/body/config/${setting}`]);
      }
    },
  );

  test('business hours read the same on both routes', async () => {
    const { publicId } = await makeAgent(app);
    const [start, end] = TIMES.taken;
    const { body } = await update(publicId, 'follow-up', {
      config: { businessHoursStart: start, businessHoursEnd: end },
    });
    expect(body.config).toMatchObject({ businessHoursStart: start, businessHoursEnd: end });
    expect(await readAgent(app, publicId)).toMatchObject({
      followUpBusinessHoursStart: start,
      followUpBusinessHoursEnd: end,
    });
    for (const time of TIMES.refused) {
      const pair = { followUpBusinessHoursStart: time, followUpBusinessHoursEnd: time };
      expect((await app.api('patch', `/agents/${publicId}`).send(pair)).status).toBe(400);
      await expectRefused(publicId, 'follow-up', { config: { businessHoursStart: time, businessHoursEnd: time } }, [
        '/body/config/businessHoursStart',
        '/body/config/businessHoursEnd',
      ]);
    }
  });

  test.each(KEYS)('%s can be switched on and off on both routes', async (key, label, toggle) => {
    const { publicId } = await makeAgent(app, FOLLOW_UP_NEEDS);
    const on = await update(publicId, key, { enabled: true });
    expect([on.status, on.body]).toMatchObject([200, { key, label, enabled: true }]);
    const agent = await readAgent(app, publicId);
    expect(agent[toggle as 'genuiEnabled']).toBe(true);
    expect(KEYS.filter(([, , each]) => agent[each as 'genuiEnabled']).map(([each]) => each)).toEqual([key]);
    for (const off of [false, null]) {
      await app
        .api('patch', `/agents/${publicId}`)
        .send({ [toggle]: true })
        .expect(200);
      expect((await update(publicId, key, { enabled: off })).body.enabled).toBe(false);
      expect((await readAgent(app, publicId))[toggle as 'genuiEnabled']).toBe(false);
    }
  });

  test('the bounds of each setting are those of the field of the agent, and every feature field belongs to a feature', () => {
    const boundsOf = (schema: SchemaName) =>
      Object.fromEntries(
        Object.entries((documentSchema(schema).properties ?? {}) as Record<string, object>).map(([name, property]) => {
          const { description: _description, examples: _examples, ...bounds } = property as Record<string, unknown>;
          return [name, bounds] as const;
        }),
      );
    const agent = boundsOf('AgentUpdate');
    for (const { key, settings } of FEATURES) {
      const schema = namedSchemas('FeatureConfig').mapping.get(key) as SchemaName;
      const fields = Object.entries(settings).map(([name, field]) => [name, agent[field]]);
      expect([key, boundsOf(schema)]).toEqual([key, Object.fromEntries(fields)]);
    }
    const fields = FEATURES.flatMap(({ toggles, settings }) => [...toggles, ...Object.values(settings)]);
    const others =
      /^(name|description|avatarUrl|categories|systemPrompt|aiModelPublicId|temperature|thinking\w+|dynamicPromptEnabled)$/;
    expect([...new Set<string>(fields)].sort()).toEqual(
      Object.keys(agent)
        .filter((field) => !others.test(field))
        .sort(),
    );
  });
});

describe('200', () => {
  test('settings that are left out stay, null clears one, null in place of all clears all', async () => {
    const { publicId } = await makeAgent(app);
    const config = {
      afterHours: 4,
      intervalMinutes: 1440,
      maxAttempts: 2,
      businessHoursStart: '09:00:00',
      businessHoursEnd: '17:30:00',
      prompt: 'Ask.',
    };
    const set = await update(publicId, 'follow-up', { enabled: true, config });
    expect(set.body).toEqual({
      key: 'follow-up',
      label: 'Follow-up',
      enabled: true,
      config: { ...config, inactivityMinutes: null },
    });
    expect((await update(publicId, 'follow-up', {})).body).toEqual(set.body);
    expect((await update(publicId, 'follow-up', { config: {} })).body).toEqual(set.body);
    const one = await update(publicId, 'follow-up', { config: { prompt: null, afterHours: 5 } });
    expect(one.body).toEqual({ ...set.body, config: { ...set.body.config, prompt: null, afterHours: 5 } });
    const none = await update(publicId, 'follow-up', { enabled: false, config: null });
    expect(none.body.enabled).toBe(false);
    expect(Object.values(none.body.config)).toEqual(Array(7).fill(null));
  });

  test('the settings of a feature that is off are kept', async () => {
    const { publicId } = await makeAgent(app);
    await update(publicId, 'message-delay', { enabled: true, config: { type: 'HIGH' } });
    const { body } = await update(publicId, 'message-delay', { enabled: false });
    expect(body).toEqual({ key: 'message-delay', label: 'Message delay', enabled: false, config: { type: 'HIGH' } });
  });

  test.each<[string, AgentUpdate, object, [boolean, boolean]]>([
    ['on: listening', {}, { enabled: true }, [true, false]],
    ['on, with a voice only: listening', {}, { enabled: true, config: { voice: 'alloy' } }, [true, false]],
    [
      'on, with a word on answers: answers only',
      {},
      { enabled: true, config: { responseEnabled: true, voice: 'alloy' } },
      [false, true],
    ],
    [
      'on, with both',
      {},
      { enabled: true, config: { listeningEnabled: true, responseEnabled: true, voice: 'alloy' } },
      [true, true],
    ],
    [
      'on, where answers are on: as it is',
      { audioResponseEnabled: true, ttsVoice: 'alloy' },
      { enabled: true },
      [false, true],
    ],
    [
      'on, settings cleared: listening',
      { audioResponseEnabled: true, ttsVoice: 'alloy' },
      { enabled: true, config: null },
      [true, false],
    ],
    [
      'on, listening off, where answers are on',
      { audioListeningEnabled: true, audioResponseEnabled: true, ttsVoice: 'alloy' },
      { enabled: true, config: { listeningEnabled: false } },
      [false, true],
    ],
    [
      'off: both',
      { audioListeningEnabled: true, audioResponseEnabled: true, ttsVoice: 'alloy' },
      { enabled: false },
      [false, false],
    ],
    [
      'off with null: both',
      { audioListeningEnabled: true, audioResponseEnabled: true, ttsVoice: 'alloy' },
      { enabled: null },
      [false, false],
    ],
    [
      'off, and the voice cleared',
      { audioResponseEnabled: true, ttsVoice: 'alloy' },
      { enabled: false, config: { voice: null } },
      [false, false],
    ],
    ['a part alone', { audioListeningEnabled: true }, { config: { listeningEnabled: null } }, [false, false]],
  ])('audio %s', async (_what, before, change, [listeningEnabled, responseEnabled]) => {
    const { publicId } = await makeAgent(app, before);
    const { status, body } = await update(publicId, 'audio', change);
    expect([status, body]).toMatchObject([
      200,
      { enabled: listeningEnabled || responseEnabled, config: { listeningEnabled, responseEnabled } },
    ]);
    expect(await readAgent(app, publicId)).toMatchObject({
      audioListeningEnabled: listeningEnabled,
      audioResponseEnabled: responseEnabled,
    });
  });

  test('a change reaches the draft only, and is unpublished until it is reverted', async () => {
    const agent = await makeReadyAgent(app);
    await publish(app, agent.publicId);
    clock.advance(1000);
    await update(agent.publicId, 'web-search', { enabled: true }).expect(200);
    const changed = await readAgent(app, agent.publicId);
    expect(changed).toMatchObject({ hasUnpublishedChanges: true, updatedAt: clock.now().toISOString() });
    const published = await app.api('get', `/agents/${agent.publicId}/versions/published`);
    expect(published.body.webSearchEnabled).toBe(false);
    await update(agent.publicId, 'web-search', { enabled: false }).expect(200);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(false);
  });

  test('concurrent changes of several features and of the agent are all kept', async () => {
    const { publicId } = await makeAgent(app, FOLLOW_UP_NEEDS);
    const answers = await Promise.all([
      ...KEYS.map(([key]) => update(publicId, key, { enabled: true })),
      app.api('patch', `/agents/${publicId}`).send({ ttsVoice: 'alloy' }),
      update(publicId, 'follow-up', { config: { prompt: 'Ask.' } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const on = Object.fromEntries(KEYS.map(([, , toggle]) => [toggle, true]));
    expect(await readAgent(app, publicId)).toMatchObject({ ...on, ttsVoice: 'alloy', followUpPrompt: 'Ask.' });
  });

  test('the switch works on the state under the lock: audio that another request switched off is switched on again', async () => {
    const { publicId } = await makeAgent(app, { audioResponseEnabled: true, ttsVoice: 'alloy' });
    const { db, workspaceId } = app.workspace;
    const { switching } = await db.transaction().execute(async (trx) => {
      const row = trx.updateTable('agents').where('workspace_id', '=', workspaceId).where('id', '=', publicId);
      await row.set({ audio_response_enabled: false }).execute();
      const waiting = update(publicId, 'audio', { enabled: true, config: { voice: 'nova' } }).then((answer) => answer);
      await untilOneWaits(app.database.name);
      return { switching: waiting };
    });
    const config = { listeningEnabled: true, responseEnabled: false, voice: 'nova' };
    expect((await switching).body).toMatchObject({ enabled: true, config });
  });
});

describe('400', () => {
  test.each([{ enabled: 'yes' }, { config: [] }, { config: 'x' }, { enabled: true, label: 'Mine' }])(
    '%j',
    async (body) => {
      const { publicId } = await makeAgent(app);
      const answer = await update(publicId, 'audio', body);
      expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
    },
  );
});

describe('404', () => {
  test('AGENT_NOT_FOUND: an unknown agent, a deleted one and another workspace’s get the same response, and the latter stays', async () => {
    const { answers, foreign } = await answersForMissing(app, (id) => update(id, 'web-search', { enabled: true }));
    expect(answers).toEqual(allNotFound);
    expect(await readAgent(app, foreign.publicId, app.stranger.apiKey)).toEqual(foreign);
  });

  test('AGENT_NOT_FOUND comes before errors of the feature', async () => {
    for (const key of ['nothing', 'audio']) {
      expect((await update(newId(), key, { config: { nothing: 1 } })).body.code).toBe('AGENT_NOT_FOUND');
    }
  });

  test.each(['nothing', 'AUDIO', 'constructor'])('FEATURE_NOT_FOUND: %s is no feature', async (key) => {
    const agent = await makeAgent(app);
    const { status, body } = await update(agent.publicId, key, { enabled: true });
    expect([status, body.code]).toEqual([404, 'FEATURE_NOT_FOUND']);
    expect(await readAgent(app, agent.publicId)).toEqual(agent);
  });
});

describe('422 FEATURE_VALIDATION_ERROR', () => {
  test.each(KEYS)('%s refuses an unknown setting, whatever its name', async (key) => {
    const { publicId } = await makeAgent(app, FOLLOW_UP_NEEDS);
    for (const name of ['nothing', 'followUpPrompt', 'enabled', 'constructor', 'a/b~c']) {
      const path = `/body/config/${name.replace('~', '~0').replace('/', '~1')}`;
      await expectRefused(publicId, key, { enabled: true, config: { [name]: 1 } }, [path]);
    }
    const answer = await app
      .api('patch', `/agents/${publicId}/features/${key}`)
      .set('Content-Type', 'application/json')
      .send('{"config": {"__proto__": {"x": 1}}}');
    expect([answer.status, answer.body.code]).toEqual([422, 'FEATURE_VALIDATION_ERROR']);
  });

  test('names every invalid setting, and changes none', async () => {
    const { publicId } = await makeAgent(app);
    await expectRefused(
      publicId,
      'follow-up',
      { config: { afterHours: 999, maxAttempts: 0, prompt: 'Ask.', nothing: 1 } },
      ['/body/config/nothing', '/body/config/afterHours', '/body/config/maxAttempts'],
    );
  });

  const followUp = { followUpEnabled: true, ...FOLLOW_UP_NEEDS };
  const hours = { followUpBusinessHoursStart: '09:00:00', followUpBusinessHoursEnd: '17:00:00' };
  const spoken = { audioResponseEnabled: true, ttsVoice: 'alloy' };
  test.each<[string, AgentUpdate, string, object]>([
    ['follow-ups without anything', {}, 'follow-up', { enabled: true }],
    ['follow-ups without an interval', {}, 'follow-up', { enabled: true, config: { maxAttempts: 3 } }],
    ['follow-ups without a number', { followUpIntervalMinutes: 60 }, 'follow-up', { enabled: true }],
    ['taking the number from follow-ups', followUp, 'follow-up', { config: { maxAttempts: null } }],
    ['taking all settings from follow-ups', followUp, 'follow-up', { config: null }],
    ['business hours without an end', {}, 'follow-up', { config: { businessHoursStart: '09:00:00' } }],
    ['taking the start from business hours', hours, 'follow-up', { config: { businessHoursStart: null } }],
    ['business hours that end when they start', hours, 'follow-up', { config: { businessHoursEnd: '09:00:00' } }],
    ['business hours that end before they start', hours, 'follow-up', { config: { businessHoursStart: '18:00:00' } }],
    ['audio responses without a voice', {}, 'audio', { config: { responseEnabled: true } }],
    ['audio responses with a blank voice', {}, 'audio', { config: { responseEnabled: true, voice: ' ' } }],
    ['taking the voice from spoken answers', spoken, 'audio', { config: { voice: null } }],
    ['audio on with listening off', {}, 'audio', { enabled: true, config: { listeningEnabled: false } }],
    [
      'audio on with both off',
      spoken,
      'audio',
      { enabled: true, config: { listeningEnabled: false, responseEnabled: null } },
    ],
    ['audio off with listening on', {}, 'audio', { enabled: false, config: { listeningEnabled: true } }],
  ])('%s: nothing is changed', async (_what, before, key, change) => {
    const { publicId } = await makeAgent(app, before);
    await expectRefused(publicId, key, change);
  });
});
