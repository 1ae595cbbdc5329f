import { readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LOCAL, publishedAgent } from '../../http/messages/turns.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { openHub } from '../../support/hub/hubs.ts';
import { gatedReply, type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { type Installed, installGuildhall } from './installed.ts';
import { hasTerminals, RealTerminal } from './realTerminal.ts';
import { difference, readTranscript, runInShell, withNames } from './transcript.ts';

/** Processes on a busy machine. */

let server: ModelServer;
let app: TestApp;
let installed: Installed;
const env = (more: Record<string, string> = {}): Record<string, string> => ({
  ...installed.env,
  GUILDHALL_BASE_URL: app.origin,
  KEY: app.workspace.apiKey,
  MODEL: LOCAL,
  ...more,
});
const loggedIn = () => env({ GUILDHALL_API_KEY: app.workspace.apiKey });

beforeAll(async () => {
  server = await startModelServer();
  [app, installed] = await Promise.all([startTestApp({ models: server.settings(), jobs: true }), installGuildhall()]);
  await openHub(app.database, app.workspace, 'acceptance');
  // As an editor of Windows saves it.
  await writeFile(join(installed.folder, 'key.txt'), `\uFEFF${app.workspace.apiKey}\r\n`);
});
beforeEach(() => server.reset());
afterAll(async () => {
  await app.close();
  await server.close();
  await installed.remove();
});

describe('transcripts', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.transcript'));

  test('there are some', () =>
    expect(files).toEqual(['clients.transcript', 'exitCodes.transcript', 'files.transcript', 'firstAgent.transcript']));

  test.each(files)('%s', async (file) => {
    const names = new Map<string, string>();
    for (const step of readTranscript(readFileSync(join(import.meta.dirname, file), 'utf8'))) {
      const done = await runInShell(
        withNames(step.command, names),
        file === 'files.transcript' ? loggedIn() : env(),
        installed.folder,
      );
      const faults = [
        difference(step.stdout, done.stdout, names),
        difference(step.stderr, done.stderr, names),
        done.exitCode === step.exitCode ? undefined : `expected exit code ${step.exitCode}, but got ${done.exitCode}`,
      ].filter((fault) => fault !== undefined);
      if (faults.length > 0)
        throw new Error(
          `${file}:${step.line}: ${step.command}\n${faults.join('\n')}\nstdout: ${done.stdout}\nstderr: ${done.stderr}`,
        );
    }
  });

  test('what differs is noticed', () => {
    const [step] = readTranscript('# A note.\n$ guildhall x\none <id> two\n…\nlast <id>\n! oops\n[exit 2]\n');
    expect(step).toEqual({
      line: 2,
      command: 'guildhall x',
      stdout: ['one <id> two', '…', 'last <id>'],
      stderr: ['oops'],
      exitCode: 2,
    });
    const compare = (text: string) => difference(step?.stdout ?? [], text, new Map());
    expect(compare('one 7 two\nx\ny\nlast 7\n')).toBeUndefined();
    expect(compare('one 7 two\nlast 8\n')).toContain('(nothing)');
    expect(compare('one 7 too\nlast 7\n')).toContain('but got: one 7 too');
    expect(compare('one 7 two\nlast 7\nmore\n')).toContain('but got: more');
    expect(difference([], 'noise\n', new Map())).toContain('noise');
  });
});

(hasTerminals ? describe : describe.skip)('on a terminal (skipped without script of util-linux)', () => {
  const open: RealTerminal[] = [];
  const terminal = (command: string, environment = loggedIn(), columns?: number) => {
    const made = new RealTerminal(command, environment, installed.folder, columns);
    open.push(made);
    return made;
  };
  afterEach(() => {
    for (const each of open.splice(0)) each.kill();
  });

  test('a key is pasted without being shown, checked, and saved', async () => {
    const own = env({ GUILDHALL_CONFIG_DIR: join(installed.folder, 'pasted') });
    const session = terminal('guildhall auth login', own);
    await session.shows('(it is not shown): ');
    session.type(`\u001b[200~${app.workspace.apiKey}\u001b[201~\r`);
    await session.shows('Logged in at');
    expect(await session.ended).toBe(0);
    expect(session.bytes).not.toContain(app.workspace.apiKey.slice(4, 20));
    expect(await readFile(join(installed.folder, 'pasted/config.json'), 'utf8')).toContain(app.workspace.apiKey);
  });

  test('a delete is confirmed', async () => {
    const { publicId } = await makeAgent(app);
    const refused = terminal(`guildhall agents delete ${publicId}`);
    await refused.shows('[y/N]');
    refused.type('\r');
    expect(await refused.ended).toBe(1);
    await app.api('get', `/agents/${publicId}`).expect(200);
    const agreed = terminal(`guildhall agents delete ${publicId}`);
    await agreed.shows('[y/N]');
    agreed.type('y\r');
    expect(await agreed.ended).toBe(0);
    await app.api('get', `/agents/${publicId}`).expect(404);
  });

  test('Ctrl-C stops the output of a turn and stays in the chat; a second one leaves it', async () => {
    const agentId = await publishedAgent(app);
    const gate = gatedReply();
    server.script({ reply: gate.chunks });
    const session = terminal(`guildhall agents chat ${agentId}`);
    await session.shows('You chat with');
    await session.shows('> ');
    session.type('Tell me\r');
    gate.push('Once \u001b]0;stolen\u0007upon');
    await session.shows('Once ␛]0;stolen␇upon');
    session.type('\u0003');
    await session.shows('Stopped.');
    await session.shows('> ');
    gate.end();
    session.type('Again\r');
    await session.shows('Hello from the model.');
    await session.shows('> ');
    session.type('\u0003');
    await session.shows('Ctrl-C once more leaves.');
    session.type('\u0003');
    await session.shows('To go on: guildhall agents chat');
    expect(await session.ended).toBe(0);
  });

  test('a list is a table in colours that keeps to the width; NO_COLOR takes the colours away', async () => {
    await makeAgent(app, { name: `An agent of a name that is much too long 漢字 ${'x'.repeat(40)}` });
    const session = terminal('guildhall agents list', loggedIn(), 90);
    expect(await session.ended).toBe(0);
    const [heading = '', ...rows] = session.screen.trimEnd().split('\n');
    expect(heading).toMatch(/^publicId +name +status/);
    expect(session.screen).toContain('…');
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(90);
    expect(session.bytes).toContain('\u001b[1mpublicId');
    const plain = terminal('guildhall agents list', { ...loggedIn(), NO_COLOR: '1' });
    await plain.ended;
    expect(plain.bytes).not.toContain('\u001b[');
  });

  test('a bar shows how much of a file is sent, and leaves the cursor alone', async () => {
    await writeFile(join(installed.folder, 'long.md'), 'A line of a long file.\n'.repeat(200_000));
    const session = terminal('guildhall knowledge upload long.md');
    await session.shows('100% 4.4 MiB of 4.4 MiB');
    await session.shows('long.md: uploaded.');
    expect(await session.ended).toBe(0);
    expect(session.bytes).not.toContain('\u001b[?25l');
  });
});
