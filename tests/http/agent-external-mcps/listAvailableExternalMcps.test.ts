import { makeAgent } from '../../support/agents/agents.ts';
import { describeListingAvailable } from '../../support/agents/linkListSuites.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { storeMcp } from '../../support/tools/mcpApi.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describeListingAvailable(() => app, 'external_mcp', ['publicId', 'name', 'url', 'status'], {
  description: 'Has things',
});

describe('200', () => {
  test('lists connected servers only', async () => {
    const seeded = await app.database.seedWorkspace();
    const { publicId } = await makeAgent(app, {}, seeded.apiKey);
    for (const status of ['PENDING', 'PENDING_AUTHORIZATION', 'EXPIRED'] as const) await storeMcp(seeded, { status });
    await storeMcp(seeded, { status: 'ERROR', error_message: 'Gone.' });
    const connected = await storeMcp(seeded);
    const { body } = await app.api('get', `/agents/${publicId}/external-mcps/available`, seeded.apiKey);
    expect(body).toMatchObject([{ publicId: connected, status: 'CONNECTED' }]);
  });
});
