import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  MAX_KNOWLEDGE_BYTES,
  MAX_LOGO_BYTES,
  MAX_SKILL_BYTES,
  MAX_SKILL_ENTRIES,
  MAX_SKILL_FILE_BYTES,
  MAX_UNPACKED_SKILL_BYTES,
} from '../../../clients/cli/upload/limits.ts';
import { localFiles } from '../../../clients/cli/upload/localFiles.ts';
import { sizeText } from '../../../clients/cli/upload/size.ts';
import { zipSkillFolder } from '../../../clients/cli/upload/skillFolder.ts';
import document from '../../../generated/openapi.json' with { type: 'json' };
import { makeAgent } from '../../support/agents/agents.ts';
import { type CommandLineOptions, CommandSession, guildhallCommand } from '../../support/clients/commandLine.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { openHub } from '../../support/hub/hubs.ts';
import { pngOf } from '../../support/hub/pictures.ts';
import { PIXEL } from '../../support/knowledge/knowledge.ts';
import { poll } from '../../support/poll.ts';

let app: TestApp;
let folder: string;
beforeAll(async () => {
  app = await startTestApp({ jobs: true });
  folder = await mkdtemp(join(tmpdir(), 'guildhall-upload-'));
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

const options = (more: CommandLineOptions = {}): CommandLineOptions => ({
  env: { GUILDHALL_API_KEY: app.workspace.apiKey, GUILDHALL_BASE_URL: app.origin, TERM: 'xterm' },
  cwd: folder,
  ...more,
});
const guildhall = (...argv: string[]) => guildhallCommand(argv, options());
const put = async (path: string, content: string | Buffer) => {
  const whole = join(folder, path);
  await mkdir(join(whole, '..'), { recursive: true });
  await writeFile(whole, content);
};
const sources = async () => (await app.api('get', '/knowledge-sources').query({ limit: 100 })).body.items;

describe('knowledge upload', () => {
  test('takes patterns that the shell left alone, goes on after a failure, links, waits and sums up', async () => {
    await put('docs/a b.md', '# Refunds\nWithin 14 days.');
    await put('docs/deep/c[1].txt', 'A name that looks like a pattern.');
    await put('docs/picture.md', PIXEL);
    await put('docs/broken.pdf', '%PDF-1.4\nnothing of a PDF follows');
    await put('docs/.hidden.md', 'Not matched.');
    const agent = await makeAgent(app);
    const ran = await guildhall(
      'knowledge',
      'upload',
      'docs/**/*.{md,pdf}',
      'docs/deep/c[1].txt',
      'docs/a b.md',
      '--agent',
      agent.publicId,
      '--wait',
      '--description',
      'Handbook',
    );
    const outcomes = JSON.parse(ran.stdout);
    expect(
      outcomes.map(({ file, processingStatus, linkedTo, error }: never) => [
        file,
        processingStatus,
        linkedTo !== null,
        (error as { code?: string } | null)?.code,
      ]),
    ).toEqual([
      ['docs/a b.md', 'COMPLETED', true, undefined],
      ['docs/broken.pdf', 'FAILED', true, 'PROCESSING_FAILED'],
      ['docs/picture.md', null, false, 'UNSUPPORTED_MEDIA_TYPE'],
      ['docs/deep/c[1].txt', 'COMPLETED', true, undefined],
    ]);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain('[1/4] docs/a b.md: uploaded and linked.');
    expect(ran.stderr).toContain('2 of 4 files are done.');
    expect(await sources()).toContainEqual(
      expect.objectContaining({ name: 'a b.md', description: 'Handbook', processingStatus: 'COMPLETED' }),
    );
    const { body: links } = await app.api('get', `/agents/${agent.publicId}/knowledge-sources`);
    expect(links).toHaveLength(3);
  });

  test('what is wrong inside a file is told with --wait', async () => {
    await put('bad.pdf', '%PDF-1.4\nnothing of a PDF follows');
    const ran = await guildhall('knowledge', 'upload', 'bad.pdf', '--wait', '--json');
    const { error } = JSON.parse(ran.stdout);
    expect([ran.exitCode, error]).toEqual([
      1,
      expect.objectContaining({ code: 'upload_failed', message: '0 of 1 files are done.' }),
    ]);
    expect(error.details).toEqual([
      expect.objectContaining({
        file: 'bad.pdf',
        processingStatus: 'FAILED',
        error: { code: 'PROCESSING_FAILED', message: expect.stringMatching(/PDF/) },
      }),
    ]);
  });

  test('a wait that ends before the file is read says so and how to ask again', async () => {
    await put('slow.md', 'x');
    let waits = 0;
    const ran = await guildhallCommand(
      ['knowledge', 'upload', 'slow.md', '--wait', '--wait-seconds', '0.000001'],
      options({
        wait: async () => {
          waits += 1;
        },
      }),
    );
    const [outcome] = JSON.parse(ran.stdout);
    expect([waits, ran.exitCode === 0 ? 'COMPLETED' : outcome.error.code]).toEqual([
      1,
      outcome.processingStatus === 'COMPLETED' ? 'COMPLETED' : 'wait_ended',
    ]);
  });

  test.each([
    ['is missing', ['no.md'], 'There is no file "no.md".'],
    ['is a folder', ['empty folder'], '"empty folder" is a folder'],
    ['is empty', ['empty.md'], '"empty.md" is empty.'],
    ['is too big', ['big.md'], '"big.md" has 20 MiB. At most 20 MiB can be sent.'],
    ['leads to itself', ['loop.md'], 'cannot be read: ELOOP'],
    ['nothing matches', ['*.docx'], 'No file matches "*.docx".'],
    ['has no name', [''], 'The name of a file is empty.'],
    ['has a name with line breaks', ['a\nb\u001bc'], 'There is no file "a⏎b␛c".'],
  ])('a file that %s: a sentence, exit 2, and nothing is sent', async (_, args, text) => {
    await mkdir(join(folder, 'empty folder'), { recursive: true });
    await put('empty.md', '');
    await put('fine.md', 'fine');
    await put('big.md', Buffer.alloc(MAX_KNOWLEDGE_BYTES + 1, 'x'));
    await symlink('loop.md', join(folder, 'loop.md')).catch(() => undefined);
    const before = (await sources()).length;
    const ran = await guildhall('knowledge', 'upload', 'fine.md', ...args);
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining(text)]);
    expect(await sources()).toHaveLength(before);
  });

  test('one name is for one file, and an agent that is not there is noticed before anything is sent', async () => {
    await put('fine.md', 'fine');
    await put('other.md', 'fine');
    const before = (await sources()).length;
    expect(await guildhall('knowledge', 'upload', 'fine.md', 'other.md', '--name', 'N')).toMatchObject({ exitCode: 2 });
    expect(
      await guildhall('knowledge', 'upload', 'fine.md', '--agent', '01a205b7-8aac-7350-ba8c-736129450883'),
    ).toMatchObject({ exitCode: 3 });
    expect(await sources()).toHaveLength(before);
  });

  test('a service that cannot be reached is not tried for each file', async () => {
    const env = { GUILDHALL_API_KEY: app.workspace.apiKey, GUILDHALL_BASE_URL: 'http://127.0.0.1:1' };
    const ran = await guildhallCommand(['knowledge', 'upload', 'fine.md', 'other.md'], options({ env }));
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining('0 of 2 files are done, 1 was not tried.')]);
  });

  test('on a terminal a bar shows how much is sent, and what became of each file is a table', async () => {
    await put('long.md', 'A line of a long file.\n'.repeat(200_000));
    const session = new CommandSession(['knowledge', 'upload', 'long.md'], options({ columns: 100 }));
    const { exitCode, stdout } = await session.ended;
    expect(exitCode).toBe(0);
    expect(session.screen).toMatch(/long\.md ░{24} 0% 0 bytes of 4\.4 MiB/);
    expect(session.screen).toMatch(/long\.md █{24} 100% 4\.4 MiB of 4\.4 MiB/);
    expect(stdout).toMatch(/^publicId +file +processingStatus/);
    expect(stdout).toContain('long.md');
  });
});

test('the bar stands still while the service takes nothing', async () => {
  await put('held.md', Buffer.alloc(18 * 1024 * 1024, 'x'));
  let take = () => {};
  const held = createServer((request, response) => {
    take = () => {
      request.resume();
      request.once('end', () => response.writeHead(413, { 'content-type': 'application/json' }).end('{}'));
    };
  });
  await new Promise<void>((resolve) => held.listen(0, '127.0.0.1', resolve));
  const { port } = held.address() as AddressInfo;
  const env = { ...options().env, GUILDHALL_BASE_URL: `http://127.0.0.1:${port}` };
  const session = new CommandSession(['knowledge', 'upload', 'held.md'], options({ columns: 100, env }));
  try {
    await poll(
      () => Number(/.* (\d+)% /s.exec(session.screen)?.[1] ?? 0),
      (percent) => percent > 0 && percent < 100,
    );
  } finally {
    take();
    await session.ended;
    held.close();
    held.closeAllConnections();
  }
});

test('patterns of Windows have backslashes', async () => {
  await put('win/x.md', 'x');
  const found = await localFiles(['win\\*.md'], { cwd: folder, platform: 'win32' }, 10);
  expect(found.map(({ name }) => name)).toEqual(['x.md']);
});

describe('skills upload', () => {
  const SKILL = '---\nname: refunds\ndescription: Pays back.\n---\nRefund politely.';

  test('zips a folder without what does not belong to it, and uploads it', async () => {
    await put('refunds/SKILL.md', SKILL);
    await put('refunds/scripts/run.js', 'console.log(1)');
    await put('refunds/.git/config', 'x');
    await put('refunds/.DS_Store', 'x');
    await put('refunds/scripts/.env', 'SECRET=1');
    const ran = await guildhall('skills', 'upload', 'refunds/');
    expect(ran).toMatchObject({ exitCode: 0, stderr: 'Zipped 2 files, left out .DS_Store, .git, scripts/.env.\n' });
    const skill = JSON.parse(ran.stdout);
    expect(skill).toMatchObject({ name: 'refunds', description: 'Pays back.' });
    const { body } = await app.api('get', `/skills/${skill.publicId}`);
    expect(JSON.stringify(body)).toContain('scripts/run.js');
    expect(JSON.stringify(body)).not.toContain('.env');
  });

  test('a lone SKILL.md goes as it is; a name that is taken is a conflict', async () => {
    await put('SKILL.md', SKILL.replace('refunds', 'alone'));
    expect(await guildhall('skills', 'upload', 'SKILL.md')).toMatchObject({ exitCode: 0 });
    const again = await guildhall('skills', 'upload', 'SKILL.md');
    expect([again.exitCode, again.stderr]).toEqual([5, expect.stringContaining('SKILL_NAME_TAKEN')]);
  });

  test('two archives of one folder are equal', async () => {
    await put('equal/SKILL.md', SKILL);
    await put('equal/b.txt', 'b');
    const path = join(folder, 'equal');
    const first = await zipSkillFolder('equal', path);
    await writeFile(join(path, 'b.txt'), 'b');
    expect((await zipSkillFolder('equal', path)).data).toEqual(first.data);
  });

  test.each([
    [
      'a link',
      async (path: string) => void (await symlink('/etc/passwd', join(path, 'leak'))),
      '"linked/leak" is a link. A skill has files only.',
    ],
    [
      'a link to a folder',
      async (path: string) => void (await symlink('/etc', join(path, 'leak'))),
      '"linked/leak" is a link. A skill has files only.',
    ],
    ['no SKILL.md', async (path: string) => rm(join(path, 'SKILL.md')), 'The folder "linked" has no SKILL.md.'],
    [
      'a file that is too big',
      async (path: string) => void (await writeFile(join(path, 'big'), Buffer.alloc(MAX_SKILL_FILE_BYTES + 1))),
      '"linked/big" has 20 MiB.',
    ],
    [
      'too many files',
      async (path: string) =>
        void (await Promise.all(
          Array.from({ length: MAX_SKILL_ENTRIES }, (_, at) => writeFile(join(path, `f${at}`), '')),
        )),
      'has more than 1000 files and folders.',
    ],
  ])('a folder with %s is refused', async (_, spoil, text) => {
    await put('linked/SKILL.md', SKILL);
    await spoil(join(folder, 'linked'));
    const ran = await guildhall('skills', 'upload', 'linked');
    await rm(join(folder, 'linked'), { recursive: true });
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining(text)]);
  });

  test('what is not there is refused', async () => {
    expect(await guildhall('skills', 'upload', 'nothing')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('There is no file "nothing".'),
    });
  });
});

describe('hub upload-logo', () => {
  test('uploads a picture as one of the logos', async () => {
    await openHub(app.database, app.workspace, 'upload-logo');
    await put('logo.png', pngOf(7));
    const ran = await guildhall('hub', 'upload-logo', 'logo.png', '--type', 'icon');
    expect([ran.exitCode, JSON.parse(ran.stdout).logoIconUrl]).toEqual([0, expect.stringContaining('http')]);
  });

  test.each([
    [['logo.png'], '--type'],
    [['logo.png', '--type', 'round'], 'horizontal, icon, email, banner'],
    [['none.png', '--type', 'icon'], 'There is no file "none.png".'],
  ])('%j is refused', async (args, text) => {
    const ran = await guildhall('hub', 'upload-logo', ...args);
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining(text)]);
  });
});

test('the bounds are those of the document', async () => {
  const { KnowledgeSourceFileCreate, SkillUpload, HubLogoUpload } = document.components.schemas;
  expect(
    [KnowledgeSourceFileCreate, SkillUpload, HubLogoUpload].map(({ properties }) => properties.file['x-max-bytes']),
  ).toEqual([MAX_KNOWLEDGE_BYTES, MAX_SKILL_BYTES, MAX_LOGO_BYTES]);
  expect(SkillUpload.description).toContain(`at most ${MAX_SKILL_ENTRIES.toLocaleString('en')} entries`);
  expect(SkillUpload.description.replace(/\s+/g, ' ')).toContain(
    `a file has at most ${sizeText(MAX_SKILL_FILE_BYTES)} and all files together ${sizeText(MAX_UNPACKED_SKILL_BYTES)}`,
  );
  const text = await readFile(join(import.meta.dirname, '../../../clients/cli/upload/knowledge.ts'), 'utf8');
  expect(text).toContain(`${sizeText(MAX_KNOWLEDGE_BYTES)} each`);
});
