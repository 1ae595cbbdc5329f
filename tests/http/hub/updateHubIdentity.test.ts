import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const FIELDS = {
  name: 'Acme Assistants',
  description: 'Agents for shops.',
  theme: 'dark',
  primaryColor: '#24A148',
  secondaryColor: '#0f62fe',
  pricingWidgetColor: '#000000',
  supportChannelType: 'whatsapp',
  supportChannelValue: '+4930123456',
  supportEmail: 'help@acme.example',
  supportWhatsappMessage: 'Hello 🦊',
};

const update = (body: object, key?: string) => app.api('patch', '/hub', key).send(body);
const read = async (key?: string) => (await app.api('get', '/hub', key)).body;

describe('200', () => {
  test('every field changes, and only those that are given', async () => {
    const { apiKey } = await app.database.seedWorkspace();
    const before = await read(apiKey);
    clock.advance(1000);
    const { status, body } = await update(FIELDS, apiKey);
    expect([status, body]).toEqual([200, { ...before, ...FIELDS, updatedAt: clock.now().toISOString() }]);
    const after = await update({ theme: 'light' }, apiKey);
    expect(after.body).toEqual({ ...body, theme: 'light' });
    expect(await read(apiKey)).toEqual(after.body);
  });

  test('null is as good as absent: with nothing to change the hub stays as it is', async () => {
    const { body: before } = await update(FIELDS);
    clock.advance(1000);
    expect((await update({})).body).toEqual(before);
    const nulls = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, null]));
    expect((await update(nulls)).body).toEqual(before);
    expect((await update({ ...nulls, description: '' })).body).toMatchObject({ ...FIELDS, description: '' });
  });

  test.each([
    { name: 'abc' },
    { name: 'é'.repeat(150) },
    { description: '🦊'.repeat(500) },
    { supportChannelValue: 'x'.repeat(500) },
    { supportWhatsappMessage: '🦊'.repeat(500) },
    { supportEmail: `a@${'b'.repeat(60)}.${'c'.repeat(60)}.example` },
  ])('values at their bounds are stored unchanged (%#)', async (fields) => {
    expect((await update(fields)).body).toMatchObject(fields);
  });

  test('the first request of a workspace may be a change, and no other hub changes', async () => {
    const { apiKey } = await app.database.seedWorkspace();
    const before = await read();
    expect((await update({ name: 'First' }, apiKey)).body.name).toBe('First');
    expect(await read()).toEqual(before);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    { name: 'ab' },
    { name: 'x'.repeat(151) },
    { name: '   ' },
    { description: 'x'.repeat(501) },
    { theme: 'blue' },
    { primaryColor: '#12345' },
    { primaryColor: 'red' },
    { secondaryColor: '#12345g' },
    { pricingWidgetColor: '#1234567' },
    { supportChannelType: 'phone' },
    { supportChannelValue: 'x'.repeat(501) },
    { supportEmail: 'nobody' },
    { supportWhatsappMessage: 'x'.repeat(501) },
    { subdomain: 'acme' },
    { accessType: 'public' },
  ])('refuses %j, and nothing changes', async (fields) => {
    const before = await read();
    const { status, body } = await update({ ...fields, ...('name' in fields ? {} : { name: 'Changed' }) });
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(await read()).toEqual(before);
  });
});
