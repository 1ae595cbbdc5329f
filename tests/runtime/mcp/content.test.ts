import { callMcpTool } from '../../../runtime/mcp/call.ts';
import { readContent, readResourceContents } from '../../../runtime/mcp/content.ts';
import { questionText } from '../../../runtime/mcp/questions.ts';
import { useResources } from '../../../runtime/mcp/resources.ts';
import { imageContent, PIXEL } from '../../support/servers/mcpContent.ts';

const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex');
const lines = async (...parts: unknown[]) => (await readContent(parts)).text.split('\n');

test('content that is not text has a line that says what it is', async () => {
  expect(
    await lines(
      { type: 'text', text: 'one' },
      imageContent(),
      { type: 'audio', data: 'A'.repeat(4000), mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'file:///a', name: 'A' },
      { type: 'resource', resource: { uri: 'file:///b', text: 'two' } },
      { type: 'resource', resource: { uri: 'file:///c', blob: 'AAAA', mimeType: 'application/pdf' } },
      { type: 'video', mimeType: 'video/mp4' },
      null,
    ),
  ).toEqual([
    'one',
    '[image 1: image/png, 1 kB]',
    '[audio audio/wav, 3 kB, which is not played to you]',
    '[resource A: file:///a]',
    'two',
    '[resource file:///c: application/pdf, 1 kB, which is not text]',
    '[video video/mp4]',
    '[content ]',
  ]);
});

test('what should be a text and is none does not make the call fail', async () => {
  // String() fails for it.
  const no = { toString: 1, valueOf: 1 };
  expect(
    await lines(
      { type: 'text', text: no },
      { type: no, mimeType: no },
      { type: 'resource_link', uri: no, name: no },
      { type: 'resource', resource: { uri: no, blob: 'AAAA', mimeType: no } },
      { type: 'audio', data: no, mimeType: 7 },
    ),
  ).toEqual([
    '',
    '[ ]',
    '[resource : ]',
    '[resource : , 1 kB, which is not text]',
    '[audio 7, 0 kB, which is not played to you]',
  ]);
  const request = async (method: string) =>
    method === 'resources/list'
      ? {
          resources: [
            { uri: no, name: 'A' },
            { uri: 'a:b', title: no },
          ],
        }
      : {};
  const { text } = await useResources({ request }, 'list', {});
  expect(text).toBe(' A\na:b ');
  expect(questionText(no, {})).toBe('');
});

test('the type of an image is what its bytes say', async () => {
  expect((await readContent([imageContent(JPEG, 'image/png')])).files).toEqual([
    { mediaType: 'image/jpeg', bytes: new Uint8Array(JPEG) },
  ]);
  for (const part of [
    imageContent(Buffer.from('<svg onload="x"/>'), 'image/svg+xml'),
    imageContent(Buffer.from('%PDF-1.7'), 'image/png'),
    imageContent(Buffer.from('504b0304'.repeat(2000), 'hex')),
    imageContent(Buffer.alloc(0)),
    { type: 'image', data: 7 },
    { type: 'image', data: '!!!' },
  ]) {
    const { files, text } = await readContent([part]);
    expect([files, text]).toEqual([[], expect.stringMatching(/^\[image .*its bytes are not PNG/)]);
  }
});

test('four images are read, and none that is larger than providers take', async () => {
  const { files, text } = await readContent(Array(6).fill(imageContent()));
  expect(files).toHaveLength(4);
  expect(text.match(/there are more than 4/g)).toHaveLength(2);
  const large = Buffer.concat([PIXEL, Buffer.alloc(3_750_000)]);
  expect(await readContent([imageContent(large)])).toMatchObject({
    files: [],
    text: '[image image/png, 3.8 MB, which is too large to be shown]',
  });
});

test('a resource is its text, its image, or what it is', async () => {
  const { text, files } = await readResourceContents([
    { uri: 'file:///a', text: 'one' },
    { uri: 'file:///b', blob: PIXEL.toString('base64'), mimeType: 'image/png' },
    { uri: 'file:///c' },
    7,
  ]);
  expect(text.split('\n')).toEqual([
    'one',
    '[resource file:///b]',
    '[image 1: image/png, 1 kB]',
    '[resource file:///c]',
    '[resource ]',
  ]);
  expect(files).toHaveLength(1);
});

test('structured content is shown beside content without text, and not beside text', async () => {
  const called = async (content: unknown[]) =>
    (
      await callMcpTool(
        { era: 'legacy', request: async () => ({ content, structuredContent: { total: 3 } }) },
        { name: 't', arguments: {} },
      )
    ).text;
  expect(await called([imageContent()])).toBe('[image 1: image/png, 1 kB]\n{"total":3}');
  expect(await called([{ type: 'text', text: ' ' }])).toBe(' \n{"total":3}');
  expect(await called([{ type: 'text', text: 'Three.' }])).toBe('Three.');
});

test('of thousands of images that are none, the bytes of a few are looked at', async () => {
  const { text, files } = await readContent(Array.from({ length: 5_000 }, () => ({ type: 'image', data: 'AAAA' })));
  expect(files).toEqual([]);
  expect(text.split('\n').filter((line) => line.includes('its bytes are not'))).toHaveLength(20);
});
