import { isUuid } from '../../../core/ids.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('200', () => {
  test('fifty first requests at once get one hub, private and called like the workspace', async () => {
    const { workspaceId, apiKey } = await app.database.seedWorkspace({ name: 'Acme' });
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.api('get', '/hub', apiKey)));
    const now = app.clock.now().toISOString();
    const [first] = answers;
    expect(first?.body).toEqual({
      publicId: expect.any(String),
      name: 'Acme',
      description: null,
      accessType: 'private',
      subdomain: null,
      hubUrl: null,
      theme: 'light',
      primaryColor: null,
      secondaryColor: null,
      pricingWidgetColor: null,
      logoHorizontalUrl: null,
      logoIconUrl: null,
      logoEmailUrl: null,
      loginBannerUrl: null,
      selfServiceEnabled: false,
      defaultPlan: null,
      supportChannelType: null,
      supportChannelValue: null,
      supportEmail: null,
      supportWhatsappMessage: null,
      createdAt: now,
      updatedAt: now,
    });
    expect(isUuid(first?.body.publicId)).toBe(true);
    for (const { status, body } of answers) expect([status, body]).toEqual([200, first?.body]);
    const rows = await app.database.database.forWorkspace(workspaceId).selectFrom('hubs').select('id').execute();
    expect(rows).toHaveLength(1);
  });

  test('each workspace has its own', async () => {
    const [own, other] = [await app.api('get', '/hub'), await app.api('get', '/hub', app.stranger.apiKey)];
    expect(own.body.publicId).not.toBe(other.body.publicId);
  });
});
