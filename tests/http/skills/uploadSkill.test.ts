import { isUuid } from '../../../core/ids.ts';
import { HOSTILE } from '../../runtime/skills/hostileArchives.ts';
import { tableContents } from '../../support/db/tableContents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import {
  makeSkill,
  noTemporaryFiles,
  rawZip,
  skillMd,
  storedSkillFile,
  uploadSkill,
  zipOf,
} from '../../support/tools/skills.ts';

const LIMIT = 10 * 1_048_576;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const list = async (key?: string) => (await app.api('get', '/skills?limit=100', key)).body.items;

/** Removes a large skill: the other tests read every byte of the database. */
const erase = async (id: string) => expect((await app.api('delete', `/skills/${id}`)).status).toBe(204);

/** The upload is refused with this status and code, and leaves nothing in the database nor on the disk. */
async function expectRefused(content: string | Buffer, status: number, code: string, name?: string): Promise<string> {
  const before = await tableContents(app.database.name);
  const answer = await uploadSkill(app, content, name);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(answer.body.details).toEqual([]);
  expect(await tableContents(app.database.name)).toEqual(before);
  await noTemporaryFiles(app);
  return answer.body.message;
}

describe('201', () => {
  const FIELDS = `name: order-triage
description: Sorts order problems.
license: MIT
compatibility: Needs Python
allowed-tools: [Read, "Bash(git:*)"]
metadata: { version: "1.2", tags: [a, 1, true, null], since: 2026-11-21 }`;

  test('the skill has the fields of its front matter, and every file of the archive', async () => {
    const image = Buffer.from('89504e470d0a1a0a00', 'hex');
    const md = skillMd(FIELDS);
    const archive = await zipOf({
      'order-triage/SKILL.md': md,
      'order-triage/scripts/größe.py': 'print("é")\n',
      'order-triage/assets/logo.png': image,
      'order-triage/empty/': '',
      '__MACOSX/order-triage/._SKILL.md': 'x',
    });
    const { status, body } = await uploadSkill(app, archive, 'order-triage.zip');
    expect(status).toBe(201);
    const now = app.clock.now().toISOString();
    expect(body).toEqual({
      publicId: expect.any(String),
      name: 'order-triage',
      description: 'Sorts order problems.',
      license: 'MIT',
      compatibility: 'Needs Python',
      allowedTools: 'Read Bash(git:*)',
      metadata: { version: '1.2', tags: ['a', 1, true, null], since: '2026-11-21' },
      files: [
        { path: 'SKILL.md', sizeBytes: Buffer.byteLength(md), binary: false },
        { path: 'assets/logo.png', sizeBytes: 9, binary: true },
        { path: 'scripts/größe.py', sizeBytes: 12, binary: false },
      ],
      createdAt: now,
      updatedAt: now,
    });
    expect(isUuid(body.publicId)).toBe(true);
    expect((await app.api('get', `/skills/${body.publicId}`)).body).toEqual(body);
    expect(await list()).toEqual([body]);
    await noTemporaryFiles(app);
    const stored = await storedSkillFile(app.workspace, body.publicId, 'assets/logo.png');
    expect(stored).toEqual({ path: 'assets/logo.png', size_bytes: 9, binary: true, content: image });
  });

  test.each(['bundle.skill', 'bundle.ZIP'])('an archive may be called %s', async (name) => {
    const { status, body } = await uploadSkill(app, await zipOf({ 'SKILL.md': skillMd() }), name);
    expect([status, body.files.length]).toEqual([201, 1]);
  });

  test.each(['SKILL.md', 'Notes on orders.md'])('a single %s is stored as SKILL.md', async (name) => {
    const md = skillMd();
    const { status, body } = await uploadSkill(app, md, name);
    expect(status).toBe(201);
    expect(body.files).toEqual([{ path: 'SKILL.md', sizeBytes: md.length, binary: false }]);
    expect(body).toMatchObject({ license: null, compatibility: null, allowedTools: null, metadata: null });
  });

  test('the declared media type does not matter', async () => {
    const archive = await zipOf({ 'SKILL.md': skillMd() });
    const file = { filename: 'a.zip', contentType: 'image/png' };
    expect((await app.api('post', '/skills').attach('file', archive, file)).status).toBe(201);
  });

  test('a skill with many and large files is stored completely', async () => {
    const words = Buffer.alloc(15 * 1_048_576, 'ten words that are not the same as the ones before ');
    for (let at = 0; at < words.length; at += 500) words.writeUInt32LE(at, at);
    const small = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`references/${n}.md`, `page ${n}`]));
    const made = await makeSkill(app, { files: { 'a.bin': words, 'b.bin': words, ...small } });
    expect(made.files).toHaveLength(303);
    const stored = await storedSkillFile(app.workspace, made.publicId, 'b.bin');
    expect(stored?.content.equals(words)).toBe(true);
    await erase(made.publicId);
  });

  test('workspaces do not share names', async () => {
    const md = skillMd('name: shared\ndescription: x');
    expect((await uploadSkill(app, md, 'SKILL.md')).status).toBe(201);
    expect((await uploadSkill(app, md, 'SKILL.md', app.stranger.apiKey)).status).toBe(201);
    expect(await list(app.stranger.apiKey)).toHaveLength(1);
  });
});

describe('400 INVALID_SKILL_ZIP', () => {
  test.each(HOSTILE)('%s is refused and leaves nothing', async (_what, archive, says) => {
    expect(await expectRefused(await archive(), 400, 'INVALID_SKILL_ZIP')).toMatch(says);
  });

  test.each([
    ['SKILL.md', '# No front matter\n', /no front matter/],
    ['SKILL.md', skillMd('description: x'), /has no name/],
    ['SKILL.md', skillMd('name: a\ndescription: Use when: asked'), /line 3, column 14/],
    ['skill.zip', 'this is no archive', /no front matter/],
    ['skill.zip', '', /no front matter/],
  ])('%s with %j is refused and leaves nothing', async (name, content, says) => {
    expect(await expectRefused(content, 400, 'INVALID_SKILL_ZIP', name)).toMatch(says);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test('a form without a file is no upload', async () => {
    const { status, body } = await app.api('post', '/skills').field('name', 'x');
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('409 SKILL_NAME_TAKEN', () => {
  test('a name is taken once in a workspace, and the refused skill leaves nothing', async () => {
    const first = await makeSkill(app);
    const again = await zipOf({ 'SKILL.md': skillMd(`name: ${first.name}\ndescription: other`), 'a.md': 'x' });
    await expectRefused(again, 409, 'SKILL_NAME_TAKEN');
    expect((await app.api('get', `/skills/${first.publicId}`)).body).toEqual(first);
  });

  test('the name of a deleted skill is free', async () => {
    const first = await makeSkill(app);
    await app.api('delete', `/skills/${first.publicId}`);
    const second = await makeSkill(app, { fields: `name: ${first.name}\ndescription: other` });
    expect(second.publicId).not.toBe(first.publicId);
  });

  test('of four at the same time one gets the name', async () => {
    const archive = await zipOf({ 'SKILL.md': skillMd('name: contested\ndescription: x'), 'a.md': 'x' });
    const answers = await Promise.all([1, 2, 3, 4].map(() => uploadSkill(app, archive)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const named = (await list()).filter(({ name }: { name: string }) => name === 'contested');
    expect(named).toHaveLength(1);
    await noTemporaryFiles(app);
  });
});

describe('413 PAYLOAD_TOO_LARGE', () => {
  test('a file over 10 MiB is refused and leaves nothing', async () => {
    await expectRefused(Buffer.alloc(LIMIT + 1, 'x'), 413, 'PAYLOAD_TOO_LARGE', 'SKILL.md');
  });

  test('a file of 10 MiB is not too large', async () => {
    const md = Buffer.alloc(LIMIT, 'x');
    md.write(skillMd());
    const { status, body } = await uploadSkill(app, md, 'SKILL.md');
    expect([status, body.files]).toEqual([201, [{ path: 'SKILL.md', sizeBytes: LIMIT, binary: false }]]);
    await erase(body.publicId);
  });
});

describe('415 UNSUPPORTED_MEDIA_TYPE', () => {
  test.each([
    ['bytes that are neither an archive nor text', Buffer.from('89504e470d0a1a0a00', 'hex'), 'skill.zip'],
    ['Markdown that is not UTF-8', Buffer.from(skillMd(), 'utf16le'), 'SKILL.md'],
    ['an archive with the name of another kind of file', rawZip([{ name: 'SKILL.md', data: skillMd() }]), 'skill.png'],
  ])('%s: refused, and leaves nothing', async (_what, content, name) => {
    await expectRefused(content, 415, 'UNSUPPORTED_MEDIA_TYPE', name);
  });

  test('a body that is no form is refused', async () => {
    const { status, body } = await app.api('post', '/skills').send({ file: 'x' });
    expect([status, body.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });
});
