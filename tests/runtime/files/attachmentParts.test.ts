import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { resolveAttachments, toModelParts, toStored, withAttachmentNotes } from '../../../runtime/files/attachments.ts';
import { base, routes, useServers } from '../../core/outgoingServers.ts';
import { CONTEXT, GIF, inline, JPEG, PDF, PNG, TEXT, WEBP } from './attachmentSamples.ts';

useServers();

describe('what goes where', () => {
  test('the model gets files, and texts between tags', async () => {
    const resolved = await resolveAttachments([inline(PNG), inline(TEXT, { filename: 'a"<b>.csv' })], CONTEXT);
    expect(toModelParts(resolved)).toEqual([
      {
        type: 'file',
        mediaType: 'image/png',
        filename: 'attachment-0.png',
        data: { type: 'data', data: resolved[0]?.bytes },
      },
      {
        type: 'text',
        text: `<attachment name="a&quot;&lt;b&gt;.csv" type="text/csv">\n${TEXT.toString()}\n</attachment>`,
        file: { filename: 'a"<b>.csv', mediaType: 'text/csv', bytes: TEXT.length },
      },
    ]);
  });

  test('every provider of the AI SDK sends the parts', async () => {
    const bodies: string[] = [];
    const take = (path: string) =>
      routes.set(path, (req, res) => {
        const chunks: Buffer[] = [];
        req.on('data', (chunk: Buffer) => chunks.push(chunk));
        req.on('end', () => {
          bodies.push(Buffer.concat(chunks).toString());
          res.writeHead(400, { 'content-type': 'application/json' }).end('{}');
        });
      });
    for (const path of ['/chat/completions', '/responses', '/messages', '/models/m:generateContent']) take(path);
    const settings = { apiKey: 'k', baseURL: base };
    const models: LanguageModelV4[] = [
      createOpenAICompatible({ name: 'local', ...settings })('m'),
      createOpenAI(settings).chat('m'),
      createOpenAI(settings).responses('m'),
      createAnthropic(settings)('m'),
      createGoogleGenerativeAI(settings)('m'),
    ];
    const files = [PNG, JPEG, GIF, WEBP, PDF, Buffer.from('the text itself')];
    const content = toModelParts(
      await resolveAttachments(
        files.map((bytes) => inline(bytes)),
        CONTEXT,
      ),
    );
    for (const model of models) {
      await Promise.resolve(model.doGenerate({ prompt: [{ role: 'user', content }] })).catch(() => undefined);
    }
    expect(bodies).toHaveLength(models.length);
    for (const body of bodies) {
      for (const bytes of files.slice(0, 5)) expect(body).toContain(bytes.toString('base64'));
      expect(body).toContain('the text itself');
    }
  });

  test('the message keeps everything but the content, and later turns see a note', async () => {
    serveReport();
    const url = `${base}/report.pdf`;
    const stored = toStored(await resolveAttachments([{ url }, inline(TEXT)], CONTEXT));
    expect(stored).toEqual([
      {
        mediaType: 'application/pdf',
        filename: 'report.pdf',
        sizeBytes: 20_480,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        url,
      },
      { mediaType: 'text/plain', filename: 'attachment-1.txt', sizeBytes: TEXT.length, sha256: expect.any(String) },
    ]);
    expect(withAttachmentNotes('Sum it up.', stored)).toBe(
      `Sum it up.\n[attachment: report.pdf, application/pdf, 20 KB]\n[attachment: attachment-1.txt, text/plain, ${TEXT.length} bytes]`,
    );
    expect(withAttachmentNotes('', stored.slice(0, 1))).toBe('[attachment: report.pdf, application/pdf, 20 KB]');
    expect(withAttachmentNotes('plain', [])).toBe('plain');
  });

  function serveReport() {
    const report = Buffer.concat([PDF, Buffer.alloc(20_480 - PDF.length)]);
    routes.set('/report.pdf', (_req, res) => res.end(report));
  }
});
