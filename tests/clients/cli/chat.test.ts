// Long because it tests a message through a pipe and a conversation on a terminal.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_ATTACHMENTS, MAX_INLINE_BYTES } from '../../../clients/cli/chat/attachments.ts';
import { MAX_MESSAGE_CHARACTERS } from '../../../clients/cli/chat/oneMessage.ts';
import document from '../../../generated/openapi.json' with { type: 'json' };
import { draftAgent, GPT, publishedAgent, said, transcript } from '../../http/messages/turns.ts';
import { agentWith, postTool } from '../../support/agents/runtimeAgents.ts';
import { CommandSession, guildhallCommand } from '../../support/clients/commandLine.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { poll } from '../../support/poll.ts';
import { gatedReply } from '../../support/servers/modelServer.ts';
import { answering } from '../../support/tools/httpTools.ts';
import { payCall } from '../../support/turns/waitingCalls.ts';

const here = useModelApp({ tools: true });
let agentId: string;
let payer: string;
let reader: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-chat-'));
  here.tools.on('/pay', answering('{"paid":true}'));
  agentId = await publishedAgent(here.app, { name: 'Support \u001b[5m' });
  reader = await publishedAgent(here.app, { aiModelPublicId: GPT });
  const pay = (await postTool(here.app, here.tools, '/pay', { requiresApproval: true })).publicId;
  payer = await agentWith(here.app, [{ kind: 'http_tool', id: pay }]);
});
afterAll(() => rm(folder, { recursive: true }));

const env = (key = here.app.workspace.apiKey) => ({ GUILDHALL_API_KEY: key, GUILDHALL_BASE_URL: here.app.origin });
const chat = (argv: string[], options: { stdin?: string | Buffer; columns?: number; key?: string } = {}) =>
  guildhallCommand(['agents', 'chat', ...argv], { env: env(options.key), cwd: folder, ...options });
const open = (argv: string[] = [agentId]) =>
  new CommandSession(['agents', 'chat', ...argv], { env: env(), cwd: folder, columns: 80 });
const conversationOf = (stderr: string) => /--conversation ([0-9a-f-]{36})/.exec(stderr)?.[1] ?? 'none';
const paid = () => here.tools.received.map(({ body }) => JSON.parse(body).city);

describe('through a pipe', () => {
  test('stdout has the answer and nothing else; a conversation goes on by its id', async () => {
    const { exitCode, stdout, stderr } = await chat([agentId, 'Hello', 'there']);
    expect([exitCode, stdout]).toEqual([0, 'Hello from the model.\n']);
    expect(said(here.server.requests[0]).at(-1)).toContain('Hello there');
    const id = conversationOf(stderr);
    await chat([agentId, 'And again', '--conversation', id]);
    expect(await transcript(here.app, id)).toEqual([
      'user: Hello there',
      'assistant: Hello from the model.',
      'user: And again',
      'assistant: Hello from the model.',
    ]);
  });

  test('the message comes from stdin when there is none in the arguments', async () => {
    expect(await chat([agentId], { stdin: 'From a pipe\r\n' })).toMatchObject({ exitCode: 0 });
    expect(said(here.server.requests[0]).at(-1)).toMatch(/From a pipe$/);
  });

  test('an answer is passed on byte for byte; on a terminal it cannot drive it', async () => {
    const wild = ['a\r', '\nb\u001b]0;own', 'ed\u0007\u001b[2J\u009b31m\r', 'c\u0008'];
    here.server.script({ reply: wild }, { reply: wild });
    expect((await chat([agentId, 'x'])).stdout).toBe(`${wild.join('')}\n`);
    expect((await chat([agentId, 'x'], { columns: 80 })).stdout).toBe('a\nb␛]0;owned␇␛[2J\ufffd31m␍c␈\n');
  });

  test('--json prints one object at the end', async () => {
    const { exitCode, stdout } = await chat([agentId, 'x', '--json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      conversationId: expect.any(String),
      text: 'Hello from the model.',
      toolCalls: [],
      pendingApprovals: [],
    });
  });

  test('a file is attached as the API takes it', async () => {
    await writeFile(join(folder, 'list.csv'), 'a,b\n1,2\n');
    expect(await chat([reader, 'Read', '--file', 'list.csv'])).toMatchObject({ exitCode: 0 });
    expect(said(here.server.requests[0]).join('\n')).toContain('a,b\n1,2');
  });

  test('a call that waits is shown with the flags that decide on it, and only the named one is decided', async () => {
    here.server.script({ reply: 'I will pay.', toolCalls: [payCall('Oslo'), payCall('Rome')] });
    const asked = await chat([payer, 'Pay them.']);
    const [oslo = '', rome = ''] = [...asked.stderr.matchAll(/--approve (\S+)/g)].map(([, id]) => id);
    expect(asked.stderr).toContain('? 1. pay({"city":"Oslo"}) waits for a decision');
    const id = conversationOf(asked.stderr);
    const decided = await chat([payer, '--conversation', id, '--approve', oslo]);
    expect(decided).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/✓ pay \d+ ms/) });
    expect(decided.stderr).toContain(`--approve ${rome}`);
    expect(paid()).toEqual(['Oslo']);
    expect(await chat([payer, '--conversation', id, '--reject', rome])).toMatchObject({ exitCode: 0 });
    expect(paid()).toEqual(['Oslo']);
  });

  test.each([
    ['an empty message', () => chat([agentId], { stdin: ' \n' }), 2, 'The message is empty.'],
    ['binary data', () => chat([agentId], { stdin: Buffer.from([1, 0, 2]) }), 2, 'binary data'],
    ['more than a message has', () => chat([agentId], { stdin: 'x'.repeat(MAX_MESSAGE_CHARACTERS + 1) }), 2, '32000'],
    [
      'far more than a message has',
      () => chat([agentId], { stdin: 'x'.repeat(5 * MAX_MESSAGE_CHARACTERS) }),
      2,
      '32000',
    ],
    ['a file that is not there', () => chat([agentId, 'x', '--file', 'no.pdf']), 2, 'There is no file "no.pdf".'],
    ['a folder as a file', () => chat([agentId, 'x', '--file', '.']), 2, 'is a folder'],
    ['a decision without a conversation', () => chat([agentId, '--approve', 'x']), 2, 'Pass --conversation ID.'],
    ['a variable without a value', () => chat([agentId, 'x', '--variable', 'name']), 2, 'name=value'],
    [
      'no message on a terminal that is no terminal for stdout',
      () => chat([agentId], { columns: 80, stdin: '' }),
      0,
      '',
    ],
    ['an agent that is not there', () => chat(['01a205b7-8aac-7350-ba8c-736129450883', 'x']), 3, 'AGENT_NOT_FOUND'],
    ['a key that is refused', () => chat([agentId, 'x'], { key: `gsk_${'a'.repeat(40)}` }), 4, '401'],
  ])('%s ends with a sentence and its exit code', async (_, act, exitCode, text) => {
    const ran = await act();
    expect([ran.exitCode, ran.stderr]).toEqual([exitCode, expect.stringContaining(text)]);
    expect(here.server.requests).toEqual([]);
  });

  test('a file that is too big is refused before anything is sent', async () => {
    await writeFile(join(folder, 'big.pdf'), Buffer.alloc(MAX_INLINE_BYTES + 1));
    const ran = await chat([agentId, 'x', '--file', 'big.pdf']);
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining('At most 1 MiB can be sent.')]);
  });

  test('an agent that is not published, and a model that fails, tell so', async () => {
    const draft = await chat([await draftAgent(here.app), 'x']);
    expect([draft.exitCode, draft.stderr]).toEqual([2, expect.stringContaining('AGENT_NOT_PUBLISHED')]);
    here.server.script({ status: 500, message: 'broken' });
    const failed = await chat([agentId, 'x', '--json']);
    expect([failed.exitCode, JSON.parse(failed.stdout)]).toEqual([
      1,
      { error: expect.objectContaining({ code: 'MODEL_PROVIDER_ERROR', status: 502, requestId: expect.any(String) }) },
    ]);
  });
});

describe('on a terminal', () => {
  test('messages are one conversation, the reply is shown as it comes, and Ctrl-D leaves', async () => {
    const gate = gatedReply();
    here.server.script({ reply: gate.chunks });
    const session = open();
    await session.shows('You chat with Support ␛[5m.');
    await session.shows('> ');
    session.type('First\r');
    gate.push('Half of ');
    await session.shows('Half of ');
    gate.push('it.');
    gate.end();
    await session.shows('it.');
    await session.shows('> ');
    session.type('Second\r');
    await session.shows('Hello from the model.');
    await session.shows('> ');
    session.type('\u0004');
    const { exitCode, stderr } = await session.ended;
    expect(exitCode).toBe(0);
    expect(await transcript(here.app, conversationOf(stderr))).toEqual([
      'user: First',
      'assistant: Half of it.',
      'user: Second',
      'assistant: Hello from the model.',
    ]);
    expect(session.isRaw).toBe(false);
  });

  test('Ctrl-C stops the output of a turn and stays; a second one leaves. The turn is stored', async () => {
    const gate = gatedReply();
    here.server.script({ reply: gate.chunks });
    const session = open();
    await session.shows('> ');
    session.type('Tell me\r');
    gate.push('Once upon ');
    await session.shows('Once upon ');
    session.interrupt();
    await session.shows('Stopped.');
    await session.shows('> ');
    gate.push('a time.');
    gate.end();
    session.interrupt();
    const { exitCode, stderr, stdout } = await session.ended;
    expect(exitCode).toBe(0);
    expect(stdout).not.toContain('a time.');
    await poll(
      () => transcript(here.app, conversationOf(stderr)),
      (all) => all.includes('assistant: Once upon a time.'),
    );
  });

  test('Ctrl-C at the prompt drops what is typed; two in a row leave', async () => {
    const session = open();
    await session.shows('> ');
    session.type('never sent');
    await session.shows('never sent');
    const shown = session.bytes.length;
    session.interrupt();
    await session.shows('> ');
    session.interrupt();
    await session.shows('Ctrl-C once more leaves.');
    session.interrupt();
    expect(await session.ended).toMatchObject({ exitCode: 0 });
    // The terminal had the keyboard back once, at the end: before that, a Ctrl-C would have been a signal that ends the process.
    expect(session.bytes.slice(shown).split('\u001b[?2004l')).toHaveLength(2);
    expect(here.server.requests).toEqual([]);
  });

  test('a paste of several lines is one message, with and without marks', async () => {
    const session = open();
    await session.shows('> ');
    session.type('\u001b[200~one\rtwo\rthr\u001b[201~ee\r');
    await session.shows('model.');
    await session.shows('> ');
    session.type('four\rfive\r');
    await session.shows('model.');
    await session.shows('> ');
    session.type('six\\\r');
    await session.shows('… ');
    session.type('seven\r');
    await session.shows('model.');
    await session.shows('> ');
    session.type('/exit\r');
    const { stderr } = await session.ended;
    const messages = await transcript(here.app, conversationOf(stderr));
    expect(messages.filter((line) => line.startsWith('user'))).toEqual([
      'user: one\ntwo\nthree',
      'user: four\nfive',
      'user: six\nseven',
    ]);
  });

  test('--conversation shows what was said', async () => {
    const { stderr } = await chat([agentId, 'Remember this']);
    const session = open([agentId, '--conversation', conversationOf(stderr)]);
    await session.shows('> Remember this\r\nHello from the model.'.replace('\r', ''));
    await session.shows('> ');
    session.type('/new\r');
    await session.shows('another conversation');
    session.type('/history\r');
    await session.shows('Nothing was said');
    session.type('\u0004');
    await session.ended;
  });

  test('calls that wait are decided one by one or all, in the name of the workspace', async () => {
    here.server.script({ reply: 'I will pay.', toolCalls: ['Oslo', 'Rome', 'Paris'].map(payCall) });
    const session = open([payer]);
    await session.shows('> ');
    session.type('/approve\r');
    await session.shows('No call waits for a decision.');
    session.type('Pay them.\r');
    await session.shows('? 3. pay({"city":"Paris"})');
    session.type('/reject 2\r');
    await session.shows('? 2. pay({"city":"Paris"})');
    session.type('/approve 7\r');
    await session.shows('No call with the number 7 waits. There are 2.');
    session.type('/approve\r');
    await session.shows('✓ pay');
    await session.shows('✓ pay');
    await session.shows('> ');
    session.type('\u0004');
    await session.ended;
    expect(paid().sort()).toEqual(['Oslo', 'Paris']);
  });

  test('a file that the service refuses is sent once', async () => {
    await writeFile(join(folder, 'odd.bin'), Buffer.from([0, 1, 2, 3]));
    const session = open();
    await session.shows('> ');
    session.type('/file odd.bin\r');
    await session.shows('> ');
    session.type('Read it\r');
    await session.shows('The files do not go with the next message.');
    await session.shows('UNSUPPORTED_ATTACHMENT');
    session.type('Hello\r');
    await session.shows('Hello from the model.');
    session.type('\u0004');
    await session.ended;
  });

  test('a file goes with the next message only; a turn that fails does not end the chat', async () => {
    await writeFile(join(folder, 'a note.txt'), 'The code is 4711.');
    const session = open([reader]);
    await session.shows('> ');
    session.type('/file "a note.txt"\r');
    await session.shows('goes with the next message');
    here.server.script({ status: 500, message: 'broken' });
    session.type('Read it\r');
    await session.shows('502 MODEL_PROVIDER_ERROR');
    session.type('Read it again\r');
    await session.shows('Hello from the model.');
    await session.shows('> ');
    session.type('/file no.txt\r');
    await session.shows('There is no file "no.txt".');
    session.type('/help\r');
    await session.shows('/approve [N]');
    session.type('\u0004');
    expect(await session.ended).toMatchObject({ exitCode: 0 });
    expect(said(here.server.requests.at(-1)).join('\n')).toContain('4711');
  });
});

test('the bounds are those of the document', () => {
  const { Attachment, MessageSend } = document.components.schemas;
  expect(MessageSend.properties.content.maxLength).toBe(MAX_MESSAGE_CHARACTERS);
  expect(MessageSend.properties.attachments.maxItems).toBe(MAX_ATTACHMENTS);
  expect(Attachment.properties.base64.description).toContain('at most 1 MiB once decoded');
  expect(MAX_INLINE_BYTES).toBe(1024 * 1024);
});
