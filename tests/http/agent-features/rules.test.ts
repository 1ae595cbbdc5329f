import type { components } from '../../../generated/api.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

/** Rules across fields are the same on both routes. The error names the fields as the route of the request does. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const hours = { followUpBusinessHoursStart: '09:00:00', followUpBusinessHoursEnd: '17:00:00' };
const spoken = { audioResponseEnabled: true, ttsVoice: 'alloy' };

/** The fields before, the same change on both routes, and the error's texts, where {…} stands for the route's name of a setting. */
type Rule = [
  what: string,
  before: components['schemas']['AgentUpdate'],
  byAgent: object,
  feature: string,
  byFeature: object,
  message: string,
  details: [setting: string, message: string][],
];

const RULES: Rule[] = [
  [
    'follow-ups without what they need',
    {},
    { followUpEnabled: true },
    'follow-up',
    { enabled: true },
    'Follow-ups need {maxAttempts} and {intervalMinutes}.',
    [
      ['maxAttempts', 'is needed for follow-ups'],
      ['intervalMinutes', 'is needed for follow-ups'],
    ],
  ],
  [
    'follow-ups without a number',
    {},
    { followUpEnabled: true, followUpIntervalMinutes: 5 },
    'follow-up',
    { enabled: true, config: { intervalMinutes: 5 } },
    'Follow-ups need {maxAttempts} and {intervalMinutes}.',
    [['maxAttempts', 'is needed for follow-ups']],
  ],
  [
    'business hours without an end',
    hours,
    { followUpBusinessHoursEnd: null },
    'follow-up',
    { config: { businessHoursEnd: null } },
    'Business hours come as a pair: give both, or neither.',
    [['businessHoursEnd', 'must be given with {businessHoursStart}']],
  ],
  [
    'business hours without a start',
    {},
    { followUpBusinessHoursEnd: '17:00:00' },
    'follow-up',
    { config: { businessHoursEnd: '17:00:00' } },
    'Business hours come as a pair: give both, or neither.',
    [['businessHoursStart', 'must be given with {businessHoursEnd}']],
  ],
  [
    'business hours that end before they start',
    hours,
    { followUpBusinessHoursStart: '18:00:00' },
    'follow-up',
    { config: { businessHoursStart: '18:00:00' } },
    'Business hours must start before they end.',
    [['businessHoursEnd', 'must be after {businessHoursStart}']],
  ],
  [
    'audio responses without a voice',
    spoken,
    { ttsVoice: null },
    'audio',
    { config: { voice: null } },
    'Audio responses need a {voice}.',
    [['voice', 'is needed for audio responses']],
  ],
];

/** The agent's field for each setting. */
const FIELDS: Record<string, string> = {
  maxAttempts: 'followUpMaxAttempts',
  intervalMinutes: 'followUpIntervalMinutes',
  businessHoursStart: 'followUpBusinessHoursStart',
  businessHoursEnd: 'followUpBusinessHoursEnd',
  voice: 'ttsVoice',
};

/** The expected error. `name` gives the route's name of a setting, `folder` is the path of its settings. */
function said(message: string, details: Rule[6], folder: string, name: (setting: string) => string) {
  const text = (template: string) => template.replace(/\{(\w+)\}/g, (_whole, setting: string) => name(setting));
  return {
    code: 'FEATURE_VALIDATION_ERROR',
    message: text(message),
    details: details.map(([setting, wrong]) => ({
      path: `${folder}/${name(setting)}`,
      message: text(wrong),
      keyword: 'rule',
    })),
  };
}

describe.each(RULES)('%s', (_what, before, byAgent, feature, byFeature, message, details) => {
  test('a change of the agent names the fields of the agent', async () => {
    const { publicId } = await makeAgent(app, before);
    const { status, body } = await app.api('patch', `/agents/${publicId}`).send(byAgent);
    expect(status).toBe(422);
    expect(body).toMatchObject(said(message, details, '/body', (setting) => FIELDS[setting] ?? ''));
  });

  test('a change of the feature names its settings', async () => {
    const { publicId } = await makeAgent(app, before);
    const { status, body } = await app.api('patch', `/agents/${publicId}/features/${feature}`).send(byFeature);
    expect(status).toBe(422);
    expect(body).toMatchObject(said(message, details, '/body/config', (setting) => setting));
  });
});
