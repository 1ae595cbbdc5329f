import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inline, PDF, PNG, TEXT } from '../../runtime/files/attachmentSamples.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { conversationsOf, customModel, GPT, HAIKU, LOCAL, publishedAgent, said, send, stored } from './turns.ts';

let server: ModelServer;
let files: Server;
let address: string;
/** An app that may fetch from 127.0.0.1. */
let open: TestApp;
/** An app that may not: the default. */
let guarded: TestApp;
let seer: string;

const served: Record<string, { type: string; body: Buffer }> = {
  '/cat.png': { type: 'image/png', body: PNG },
  '/lying.png': { type: 'image/png', body: Buffer.from('MZ\0\0not a picture') },
  '/large.txt': { type: 'text/plain', body: Buffer.alloc(10_485_761, 'a') },
};

beforeAll(async () => {
  server = await startModelServer();
  files = createServer((request, response) => {
    const file = served[request.url ?? ''];
    if (file) response.setHeader('Content-Type', file.type).end(file.body);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
  open = await startTestApp({ models: server.settings(), allowPrivateNetwork: true });
  guarded = await startTestApp({ models: server.settings(), database: open.database });
  seer = await publishedAgent(open, { aiModelPublicId: GPT });
});
beforeEach(() => server.reset());
afterAll(async () => {
  await guarded.close();
  await open.close();
  await server.close();
  files.closeAllConnections();
  files.close();
});

/** The parts of the last message that the provider was sent, without what the service put beside it. */
function parts(request: number): Record<string, unknown>[] {
  const { messages, input } = server.requests[request]?.body ?? {};
  const last = ((messages ?? input) as { content: unknown }[]).at(-1)?.content;
  return Array.isArray(last) ? last.filter(({ text }) => !String(text).startsWith('<turn_context>')) : [];
}

const dataUrl = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`;

describe('200', () => {
  test('pictures, documents and texts reach the provider with the message', async () => {
    const attachments = [
      inline(PNG, { filename: 'cat.png' }),
      inline(PDF, { filename: 'offer.pdf', mediaType: 'application/pdf' }),
      inline(TEXT, { filename: 'list.csv' }),
    ];
    const { body } = await send(open, seer, { content: 'What is this?', attachments }).expect(200);
    expect(body.messages[0].content).toBe('Hello from the model.');
    expect(parts(0)).toEqual([
      { type: 'input_text', text: 'What is this?' },
      expect.objectContaining({ type: 'input_image', image_url: dataUrl('image/png', PNG) }),
      expect.objectContaining({
        type: 'input_file',
        filename: 'offer.pdf',
        file_data: dataUrl('application/pdf', PDF),
      }),
      { type: 'input_text', text: `<attachment name="list.csv" type="text/csv">\n${TEXT}\n</attachment>` },
    ]);
    const claude = await publishedAgent(open, { aiModelPublicId: HAIKU });
    await send(open, claude, { content: 'And you?', attachments: [inline(PNG)] }).expect(200);
    expect(parts(1)).toMatchObject([
      { type: 'text', text: 'And you?' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') } },
    ]);
  });

  test('a message may be an attachment without text; later turns get a note instead of the file', async () => {
    const attachments = [inline(PNG, { filename: 'cat.png' })];
    const { body } = await send(open, seer, { attachments }).expect(200);
    expect(parts(0)).toMatchObject([{ type: 'input_image' }]);
    expect((await stored(open, body.conversationId))[0]).toMatchObject({ role: 'user', content: '' });
    await send(open, seer, { content: 'What was it?', conversationId: body.conversationId }).expect(200);
    expect(said(server.requests[1])).toEqual([
      `user: [attachment: cat.png, image/png, ${PNG.length} bytes]`,
      'assistant: Hello from the model.',
      'user: What was it?',
    ]);
  });

  test('a file is fetched from its address', async () => {
    await send(open, seer, { content: 'Look', attachments: [{ url: `${address}/cat.png` }] }).expect(200);
    expect(parts(0)[1]).toMatchObject({ type: 'input_image', image_url: dataUrl('image/png', PNG) });
  });
});

async function refusal(app: TestApp, agent: string, attachments: object[]) {
  const externalUserId = 'refused';
  const key = open.workspace.apiKey;
  const { status, body } = await send(app, agent, { content: 'Look', attachments, externalUserId }, key);
  expect(await conversationsOf(open, externalUserId)).toEqual([]);
  expect(server.requests).toEqual([]);
  return [status, body.code];
}

describe('422 ATTACHMENT_TOO_LARGE', () => {
  test('an inline file over 1 MiB, and a fetched file over 10 MiB', async () => {
    const tooLarge = Buffer.concat([PNG, Buffer.alloc(1_048_577 - PNG.length)]);
    expect(await refusal(open, seer, [inline(tooLarge)])).toEqual([422, 'ATTACHMENT_TOO_LARGE']);
    expect(await refusal(open, seer, [{ url: `${address}/large.txt` }])).toEqual([422, 'ATTACHMENT_TOO_LARGE']);
  });
});

describe('422 UNSUPPORTED_ATTACHMENT', () => {
  test('a file whose bytes are of a kind that is not accepted', async () => {
    const program = Buffer.from('7f454c4602010100000000000000000002003e00', 'hex');
    const unsupported = [422, 'UNSUPPORTED_ATTACHMENT'];
    expect(await refusal(open, seer, [inline(program, { filename: 'cat.png' })])).toEqual(unsupported);
    expect(await refusal(open, seer, [inline(PDF, { mediaType: 'image/png' })])).toEqual(unsupported);
    expect(await refusal(open, seer, [{ url: `${address}/lying.png` }])).toEqual(unsupported);
    expect(await refusal(open, seer, [{ url: `${address}/nothing-here.png` }])).toEqual(unsupported);
  });

  test('a kind that the model does not accept', async () => {
    const blind = await publishedAgent(open, { aiModelPublicId: LOCAL });
    const reader = await publishedAgent(open, {
      aiModelPublicId: await customModel(open.workspace, { document: true }),
    });
    expect(await refusal(open, blind, [inline(TEXT)])).toEqual([422, 'UNSUPPORTED_ATTACHMENT']);
    expect(await refusal(open, reader, [inline(PNG)])).toEqual([422, 'UNSUPPORTED_ATTACHMENT']);
    await send(open, reader, { content: 'Read', attachments: [inline(TEXT)] }).expect(200);
  });

  test('an address in a private network, unless the operator allows it', async () => {
    const unsupported = [422, 'UNSUPPORTED_ATTACHMENT'];
    expect(await refusal(guarded, seer, [{ url: `${address}/cat.png` }])).toEqual(unsupported);
    expect(await refusal(open, seer, [{ url: 'http://169.254.169.254/latest/meta-data' }])).toEqual(unsupported);
  });
});
