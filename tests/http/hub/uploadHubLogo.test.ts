import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { purgeLogos } from '../../../jobs/hubUpkeep.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { JPEG, pathOf, pngOf, svgOf, uploadLogo, WEBP } from '../../support/hub/pictures.ts';

// Malformed forms: tests/http/uploads.test.ts. What browsers do with an SVG: tests/browser/logos.test.ts.

const MAX_BYTES = 5 * 1024 * 1024;
const TYPES = { horizontal: 'logoHorizontalUrl', icon: 'logoIconUrl', email: 'logoEmailUrl', banner: 'loginBannerUrl' };

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const read = async (key?: string) => (await app.api('get', '/hub', key)).body;

/** The files of logos that a workspace has on the disk. */
async function storedFiles(workspaceId: string): Promise<string[]> {
  return readdir(join(app.dataDir, 'files', workspaceId, 'hub')).catch(() => []);
}

const runUpkeep = () =>
  purgeLogos(app.service.runtime.files).run({ database: app.database.database, clock, logger: undefined as never });

const rowsOf = async ({ db }: Pick<TestApp['workspace'], 'db'>) =>
  db.selectFrom('hub_logos').select(['key', 'purge_at']).execute();

describe('200', () => {
  test.each(Object.entries(TYPES))('the logo %s is %s of the hub, and nothing else changes', async (type, field) => {
    const { apiKey } = await app.database.seedWorkspace();
    const before = await read(apiKey);
    clock.advance(1000);
    const { status, body } = await uploadLogo(app, type, pngOf(1), apiKey);
    const url = expect.stringMatching(new RegExp(`/hub/${type}-[\\w-]{32}\\.png$`));
    expect([status, body]).toEqual([200, { ...before, [field]: url, updatedAt: clock.now().toISOString() }]);
    expect(await read(apiKey)).toEqual(body);
    const access = await app.api('get', '/hub/access', apiKey);
    expect(access.body.loginBannerUrl).toBe(body.loginBannerUrl);
    const file = await app.raw.get(pathOf(body[field])).expect(200);
    expect(file.body).toEqual(pngOf(1));
  });

  test.each<[string, Buffer, string]>([
    ['png', pngOf(2), 'image/png'],
    ['jpg', JPEG, 'image/jpeg'],
    ['webp', WEBP, 'image/webp'],
    ['svg', svgOf('<rect/>'), 'image/svg+xml'],
    [
      'svg',
      Buffer.concat([Buffer.from('\ufeff<?xml version="1.0"?>\n<!-- made by -->\n'), svgOf('ü')]),
      'image/svg+xml',
    ],
    [
      'svg',
      Buffer.from(
        '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd"><s:svg xmlns:s="http://www.w3.org/2000/svg"/>',
      ),
      'image/svg+xml',
    ],
  ])('a %s is told by its bytes, whatever it is called (%#)', async (extension, content, mediaType) => {
    const { body } = await uploadLogo(app, 'icon', content, undefined, 'logo.exe').expect(200);
    expect(body.logoIconUrl).toMatch(new RegExp(`\\.${extension}$`));
    const { headers } = await app.raw.get(pathOf(body.logoIconUrl)).expect(200);
    expect(headers).toMatchObject({
      'content-type': mediaType,
      'content-disposition': `${extension === 'svg' ? 'attachment' : 'inline'}; filename="logo.${extension}"`,
      'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
    });
  });

  test('each upload has an address of its own, and the earlier file is gone', async () => {
    const workspace = await app.database.seedWorkspace();
    const { workspaceId, apiKey } = workspace;
    const first = (await uploadLogo(app, 'icon', pngOf(3), apiKey)).body;
    const other = (await uploadLogo(app, 'email', pngOf(3), apiKey)).body;
    const second = (await uploadLogo(app, 'icon', pngOf(3), apiKey)).body;
    expect(second.logoIconUrl).not.toBe(first.logoIconUrl);
    expect(second.logoEmailUrl).toBe(other.logoEmailUrl);
    await app.raw.get(pathOf(first.logoIconUrl)).expect(404);
    await app.raw.get(pathOf(second.logoIconUrl)).expect(200);
    expect([(await storedFiles(workspaceId)).length, (await rowsOf(workspace)).length]).toEqual([2, 2]);
  });

  test('many uploads at once leave one logo, one file and one row', async () => {
    const workspace = await app.database.seedWorkspace();
    const { workspaceId, apiKey } = workspace;
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, shade) => uploadLogo(app, 'icon', pngOf(shade), apiKey)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const key = pathOf((await read(apiKey)).logoIconUrl).replace('/files/', '');
    expect(await rowsOf(workspace)).toEqual([{ key, purge_at: null }]);
    expect(await storedFiles(workspaceId)).toEqual([key.split('/').at(-1)]);
  });

  test('a picture of 5 MiB is accepted', async () => {
    const { apiKey } = await app.database.seedWorkspace();
    const content = Buffer.concat([pngOf(4), Buffer.alloc(MAX_BYTES - pngOf(4).length)]);
    await uploadLogo(app, 'banner', content, apiKey).expect(200);
  });
});

describe('what fails or dies half way', () => {
  test('an upload whose file cannot be stored leaves the hub as it was, and nothing else', async () => {
    const workspace = await app.database.seedWorkspace();
    const { workspaceId, apiKey } = workspace;
    const before = await read(apiKey);
    // A file in the place of the folder.
    const folder = join(app.dataDir, 'files', workspaceId);
    await rm(folder, { recursive: true, force: true });
    await writeFile(folder, '');
    await uploadLogo(app, 'icon', pngOf(5), apiKey).expect(500);
    expect(await read(apiKey)).toEqual(before);
    await rm(folder);
    await runUpkeep();
    expect(await rowsOf(workspace)).toEqual([]);
    await uploadLogo(app, 'icon', pngOf(5), apiKey).expect(200);
  });

  test('a file that a dying process left is removed once no upload can want it; those that are shown stay', async () => {
    const workspace = await app.database.seedWorkspace();
    const { workspaceId, apiKey, db } = workspace;
    const shown = pathOf((await uploadLogo(app, 'icon', pngOf(6), apiKey)).body.logoIconUrl).replace('/files/', '');
    const left = shown.replace(/.{10}\.png$/, '0123456789.png');
    await app.service.runtime.files.put(left, pngOf(7));
    const purge_at = new Date(clock.now().getTime() + 1000);
    await db
      .insertInto('hub_logos')
      .values({ workspace_id: workspaceId, key: left, size_bytes: 9, purge_at })
      .execute();
    await runUpkeep();
    expect(await storedFiles(workspaceId)).toHaveLength(2);
    clock.advance(1000);
    await runUpkeep();
    expect(await rowsOf(workspace)).toEqual([{ key: shown, purge_at: null }]);
    expect(await storedFiles(workspaceId)).toEqual([shown.split('/').at(-1)]);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each(['logo', 'ICON', 'favicon', '..%2Ficon'])('there is no logo of type %s', async (type) => {
    const { status, body } = await uploadLogo(app, type, pngOf(8));
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('413 PAYLOAD_TOO_LARGE', () => {
  test('a picture of one byte more than 5 MiB', async () => {
    const before = await read();
    const content = Buffer.concat([pngOf(9), Buffer.alloc(MAX_BYTES - pngOf(9).length + 1)]);
    const { status, body } = await uploadLogo(app, 'icon', content);
    expect([status, body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(await read()).toEqual(before);
  });
});

describe('415 UNSUPPORTED_MEDIA_TYPE', () => {
  test.each<[string, Buffer]>([
    ['empty', Buffer.alloc(0)],
    ['GIF', Buffer.from('GIF89a\x01\x00\x01\x00\x00\x00\x00;', 'latin1')],
    ['PDF', Buffer.from('%PDF-1.7\n')],
    ['text', Buffer.from('png')],
    ['HTML', Buffer.from('<!doctype html><html><body><svg xmlns="http://www.w3.org/2000/svg"/></body></html>')],
    ['HTML in XML', Buffer.from('<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>')],
    ['SVG of no namespace', Buffer.from('<svg width="1"/>')],
    ['SVG of another namespace', Buffer.from('<svg xmlns="http://www.w3.org/1999/xhtml"/>')],
    ['text before an SVG', Buffer.concat([Buffer.from('x'), svgOf()])],
    ['SVG in UTF-16', Buffer.from(`\ufeff${svgOf()}`, 'utf16le')],
    [
      'SVG with entities of its own',
      Buffer.concat([Buffer.from('<!DOCTYPE svg [<!ENTITY a SYSTEM "/etc/passwd">]>'), svgOf('&a;')]),
    ],
    ['ZIP', Buffer.from('PK\x03\x04', 'latin1')],
  ])('%s is refused, and nothing is stored', async (_what, content) => {
    const workspace = await app.database.seedWorkspace();
    const { status, body } = await uploadLogo(app, 'icon', content, workspace.apiKey, 'logo.png');
    expect([status, body.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect([await rowsOf(workspace), await storedFiles(workspace.workspaceId)]).toEqual([[], []]);
  });
});

describe('429 RATE_LIMITED', () => {
  test('logos count towards the storage of the workspace, until they are removed', async () => {
    const size = pngOf(1).length;
    const { apiKey } = await app.database.seedWorkspace({ limits: { storage_limit: size * 2 + 1 } });
    for (const type of ['icon', 'email']) await uploadLogo(app, type, pngOf(1), apiKey).expect(200);
    const { status, body, headers } = await uploadLogo(app, 'banner', pngOf(1), apiKey);
    expect([status, body.code]).toEqual([429, 'RATE_LIMITED']);
    expect(headers['retry-after']).toBe('60');
    await app.api('delete', '/hub/logos/icon', apiKey).expect(200);
    await uploadLogo(app, 'banner', pngOf(1), apiKey).expect(200);
  });
});
