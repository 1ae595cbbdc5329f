import { MAX_URL_BYTES, resolveAttachments } from '../../../runtime/files/attachments.ts';
import { base, clientFor, PUBLIC, routes, trapConnections, trapPort, useServers } from '../../core/outgoingServers.ts';
import { CONTEXT, faultOf, inline, PNG, TEXT } from './attachmentSamples.ts';

useServers();

describe('content by URL', () => {
  const serve = (path: string, bytes: Buffer, headers: Record<string, string> = {}) =>
    routes.set(path, (_req, res) => res.writeHead(200, headers).end(bytes));

  test('is fetched, named after the URL and remembered with it', async () => {
    serve('/files/My%20cat.png', PNG, { 'content-type': 'application/octet-stream' });
    const url = `${base}/files/My%20cat.png?size=1`;
    const [one] = await resolveAttachments([{ url }], CONTEXT);
    expect(one).toMatchObject({ kind: 'image', mediaType: 'image/png', filename: 'My cat.png', url });
  });

  test('takes the kind of text from the server where nobody else says', async () => {
    serve('/export', TEXT, { 'content-type': 'text/csv; charset=utf-8' });
    const url = `${base}/export`;
    expect(await resolveAttachments([{ url }], CONTEXT)).toMatchObject([{ mediaType: 'text/csv' }]);
    expect(await resolveAttachments([{ url, mediaType: 'text/markdown' }], CONTEXT)).toMatchObject([
      { mediaType: 'text/markdown' },
    ]);
  });

  test('an address that is refused, fails, or answers an error is UNSUPPORTED_ATTACHMENT with the reason', async () => {
    const refused = await faultOf([{ url: `http://127.0.0.1:${trapPort}/a.png` }], { allowPrivateNetwork: false });
    expect(refused.code).toBe('UNSUPPORTED_ATTACHMENT');
    expect(refused.message).toMatch(
      /^attachments\[0\] could not be fetched\. 127\.0\.0\.1 does not lead to an address/,
    );
    expect(trapConnections).toBe(0);
    const { guardedFetch } = clientFor({ 'cdn.example.com': [PUBLIC], 'inside.example.com': ['10.0.0.1'] });
    const context = { allowPrivateNetwork: false, fetch: guardedFetch };
    const missing = await faultOf([{ url: 'http://cdn.example.com/absent.png' }], context);
    expect(missing).toMatchObject({
      code: 'UNSUPPORTED_ATTACHMENT',
      message: 'attachments[0] could not be fetched: its address returned status 404.',
    });
    for (const url of ['http://inside.example.com/', 'http://gone.example.com/', 'ftp://cdn.example.com/a']) {
      expect((await faultOf([{ url }], context)).code).toBe('UNSUPPORTED_ATTACHMENT');
    }
    serve('/empty', Buffer.alloc(0));
    expect((await faultOf([{ url: `${base}/empty` }])).message).toContain('is empty');
    routes.set('/silent', () => undefined);
    expect((await faultOf([{ url: `${base}/silent` }], { timeoutMs: 50 })).message).toContain('within 50 ms');
  });

  test('a URL that is none is a 400', async () => {
    expect(await faultOf([{ url: 'http://[' }])).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: '/body/attachments/0/url' }],
    });
  });

  test('has at most 10 MiB, and the download stops there', async () => {
    const closed = Promise.withResolvers<number>();
    routes.set('/endless', (_req, res) => {
      let sent = 0;
      const more = () => {
        do sent += 65_536;
        while (res.write(Buffer.alloc(65_536, 'a')));
      };
      res.on('drain', more).on('close', () => closed.resolve(sent));
      more();
    });
    const error = await faultOf([{ url: `${base}/endless`, filename: 'big.txt' }]);
    expect(error).toMatchObject({
      code: 'ATTACHMENT_TOO_LARGE',
      message: 'attachments[0] (big.txt) is over the limit of 10 MiB.',
    });
    expect(await closed.promise).toBeLessThan(3 * MAX_URL_BYTES);
    serve('/most', Buffer.alloc(MAX_URL_BYTES, 'a'));
    expect(await resolveAttachments([{ url: `${base}/most` }], CONTEXT)).toMatchObject([{ sizeBytes: MAX_URL_BYTES }]);
  });

  test('all together have at most 20 MiB', async () => {
    serve('/ten', Buffer.alloc(MAX_URL_BYTES, 'a'));
    const ten = { url: `${base}/ten` };
    expect(await faultOf([ten, ten, inline(TEXT)])).toMatchObject({
      code: 'ATTACHMENT_TOO_LARGE',
      message: 'The attachments together are over the limit of 20 MiB.',
    });
    expect(await resolveAttachments([ten, ten], CONTEXT)).toHaveLength(2);
  });

  test("the caller's signal ends the download", async () => {
    const stop = new AbortController();
    const reason = new Error('the agent ran out of time');
    routes.set('/silent', () => stop.abort(reason));
    await expect(resolveAttachments([{ url: `${base}/silent` }], { ...CONTEXT, signal: stop.signal })).rejects.toBe(
      reason,
    );
  });

  test('nothing is fetched for a message with a broken part', async () => {
    expect((await faultOf([{ url: `http://127.0.0.1:${trapPort}/` }, { base64: '!' }])).code).toBe('VALIDATION_ERROR');
    expect(trapConnections).toBe(0);
  });
});
