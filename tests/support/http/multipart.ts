import { request } from 'node:http';
import { API_PREFIX } from '../../../generated/operations.ts';
import type { TestApp } from './app.ts';

/** What separates the parts of the forms made here. */
export const BOUNDARY = 'guildhall-test-boundary';
export const FORM = `multipart/form-data; boundary=${BOUNDARY}`;

/** One part: its header lines as they are, and its content. */
export function part(headers: string | string[], content: string | Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\n${[headers].flat().join('\r\n')}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
}

/** A part with a file. */
export function filePart(content: string | Buffer = 'x', filename = 'SKILL.md', name = 'file'): Buffer {
  const disposition = `Content-Disposition: form-data; name="${name}"; filename="${filename}"`;
  return part([disposition, 'Content-Type: application/octet-stream'], content);
}

/** A part with text. */
export function textPart(name: string, content: string | Buffer): Buffer {
  return part(`Content-Disposition: form-data; name="${name}"`, content);
}

/** The parts as a whole form. */
export function form(...parts: Buffer[]): Buffer {
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

/** An answer as the tests look at it. */
export interface Answer {
  status: number;
  body: { code: string; message: string; details: { path: string; message: string; keyword: string }[] };
}

/** What may differ from a plain POST of the whole body. */
export interface SendOptions {
  contentType?: string;
  headers?: Record<string, string>;
  /** Sends the body in chunks of this size, without telling its length. */
  chunk?: number;
}

/** Posts the bytes to a path of the contract, on a connection of their own. */
export function post(app: TestApp, path: string, body: Buffer, options: SendOptions = {}): Promise<Answer> {
  const { contentType = FORM, headers = {}, chunk } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(app.origin + API_PREFIX + path, {
      method: 'POST',
      agent: false,
      headers: {
        'X-Api-Key': app.workspace.apiKey,
        'Content-Type': contentType,
        ...(chunk ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(body.length) }),
        ...headers,
      },
    });
    outgoing.on('error', reject).on('response', (incoming) => {
      const received: Buffer[] = [];
      incoming.on('data', (bytes: Buffer) => received.push(bytes));
      incoming.on('end', () => {
        const text = Buffer.concat(received).toString();
        resolve({ status: incoming.statusCode ?? 0, body: JSON.parse(text) as Answer['body'] });
      });
    });
    for (let at = 0; chunk && at < body.length; at += chunk) outgoing.write(body.subarray(at, at + chunk));
    outgoing.end(chunk ? undefined : body);
  });
}
