import { namedSchemas } from '../../../core/namedSchemas.ts';
import { makeAgent, readAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type EdgeParts, schemaEdges } from '../../support/http/schemaEdges.ts';

/** Every keyword of the schemas of features' settings is tried: accepted at its edge, refused beyond it. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const followUp = {
  afterHours: 1,
  inactivityMinutes: 1,
  intervalMinutes: 1,
  maxAttempts: 1,
  businessHoursStart: '09:00:00',
  businessHoursEnd: '17:00:00',
  prompt: 'Ask again.',
};
/** Business hours come as a pair. */
const noHours = () => ({ businessHoursStart: null, businessHoursEnd: null });

const PARTS: Record<string, EdgeParts> = {
  'follow-up': {
    valid: followUp,
    unlike: { businessHoursStart: '9:00:00', businessHoursEnd: '24:00:00' },
    around: { businessHoursStart: noHours, businessHoursEnd: noHours },
  },
  'message-splitting': { valid: {} },
  'message-delay': { valid: { type: 'LOW' } },
  'long-term-memory': { valid: { customInstructions: 'Names.' } },
  sandbox: { valid: {} },
  genui: { valid: {} },
  audio: { valid: { listeningEnabled: true, responseEnabled: false, voice: 'alloy' } },
  'web-search': { valid: {} },
};

test('every schema that the document names is tried', () => {
  expect(Object.keys(PARTS)).toEqual([...namedSchemas('FeatureConfig').mapping.keys()]);
});

describe.each(Object.entries(PARTS))('%s', (key, parts) => {
  const schema = namedSchemas('FeatureConfig').mapping.get(key);
  if (!schema) throw new Error(key);
  test.each(schemaEdges(schema, parts).map((edge) => [edge.what, edge] as const))('%s', async (_what, edge) => {
    const { publicId } = await makeAgent(app);
    const before = await readAgent(app, publicId);
    const { status, body } = await app.api('patch', `/agents/${publicId}/features/${key}`).send({ config: edge.form });
    if (edge.isAllowed) {
      expect([status, body.details]).toEqual([200, undefined]);
      // A part of a feature is on or off: null switches it off.
      const isPart = (field: string) => typeof parts.valid[field] === 'boolean';
      const kept = Object.entries(edge.form).map(([field, value]) => [field, isPart(field) ? (value ?? false) : value]);
      expect(body.config).toMatchObject(Object.fromEntries(kept));
    } else {
      expect([status, body.code]).toEqual([422, 'FEATURE_VALIDATION_ERROR']);
      expect(body.details.map(({ path }: { path: string }) => path)).toContain(`/body/config${edge.pointer}`);
      expect(await readAgent(app, publicId)).toEqual(before);
    }
  });
});
