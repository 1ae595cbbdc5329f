import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Who may use the stand-in. */
export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** A request as far as its signature covers it. */
export interface SignedRequest {
  method: string;
  /** Path and query as sent. */
  url: string;
  /** Names in lower case. */
  headers: Record<string, string | string[] | undefined>;
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest();
const UNSIGNED = 'UNSIGNED-PAYLOAD';

/** `UriEncode` of the documentation: everything but the unreserved characters. */
function uriEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * The signature that the request must have by AWS Signature Version 4, and the one that it has. Written from the documentation,
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, and checked with its examples.
 */
export function signatures({ method, url, headers }: SignedRequest, { secretAccessKey }: S3Credentials) {
  const authorization = String(headers.authorization ?? '');
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8}\/([^/]+)\/s3\/aws4_request), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  if (!found) return undefined;
  const [, accessKeyId = '', scope = '', region = '', names = '', given = ''] = found;
  const time = String(headers['x-amz-date']);
  const [path = '', search = ''] = url.split('?');
  const query = [...new URLSearchParams(search)].map((pair) => pair.map(uriEncode).join('=')).sort();
  const signed = names.split(';');
  const canonical = [
    method,
    path
      .split('/')
      .map((step) => uriEncode(decodeURIComponent(step)))
      .join('/'),
    query.join('&'),
    ...signed.map(
      (name) =>
        `${name}:${String(headers[name] ?? '')
          .trim()
          .replace(/ +/g, ' ')}`,
    ),
    '',
    names,
    headers['x-amz-content-sha256'],
  ].join('\n');
  const key = [time.slice(0, 8), region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  const expected = hmac(key as Buffer, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')).toString('hex');
  return { accessKeyId, scope, region, signed, given, expected, time };
}

/** What the stand-in does wrong, one request after the other. */
export type InjectedFault =
  | { status: number; code: string }
  /** Ends the connection without an answer. */
  | 'drop'
  /** Ends it in the middle of the body. */
  | 'cut';

/** A stand-in for S3 with one bucket, over a socket. */
export interface S3Server {
  endpoint: string;
  /** What the bucket holds, by key. */
  objects: Map<string, Buffer>;
  /** `METHOD /path` of every request. */
  requests: string[];
  /** Goes wrong with the next requests. */
  trouble: InjectedFault[];
  close(): Promise<void>;
}

/** Starts it. Requests are refused as S3 does: unsigned, wrongly signed, old, of the wrong region, or with other bytes than signed. */
export async function startS3Server(bucket: string, region: string, credentials: S3Credentials): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  const trouble: InjectedFault[] = [];

  function refuse(response: ServerResponse, status: number, code: string, headers = {}): void {
    const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${code}: as S3 says it</Message></Error>`;
    response.writeHead(status, { 'Content-Type': 'application/xml', ...headers }).end(body);
  }

  /** The status and code of what is wrong with the signature. */
  function wrong(request: IncomingMessage, body: Buffer): [number, string] | undefined {
    const { headers, method = '', url = '' } = request;
    const found = signatures({ method, url, headers }, credentials);
    if (!found) return [403, 'AccessDenied'];
    if (found.accessKeyId !== credentials.accessKeyId) return [403, 'InvalidAccessKeyId'];
    if (found.region !== region) return [400, 'AuthorizationHeaderMalformed'];
    const must = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
    if (must.some((name) => !found.signed.includes(name))) return [403, 'AccessDenied'];
    if (found.given !== found.expected) return [403, 'SignatureDoesNotMatch'];
    const sent = Date.parse(found.time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
    if (!(Math.abs(Date.now() - sent) < 15 * 60_000)) return [403, 'RequestTimeTooSkewed'];
    if (headers['x-amz-security-token'] !== credentials.sessionToken) return [403, 'InvalidToken'];
    const hash = headers['x-amz-content-sha256'];
    if (hash !== UNSIGNED && hash !== sha256(body)) return [400, 'XAmzContentSHA256Mismatch'];
    return undefined;
  }

  function answer(request: IncomingMessage, response: ServerResponse, body: Buffer) {
    requests.push(`${request.method} ${request.url}`);
    const now = trouble.shift();
    if (now === 'drop') {
      request.socket.destroy();
      return;
    }
    if (typeof now === 'object') return refuse(response, now.status, now.code);
    const fault = wrong(request, body);
    if (fault) return refuse(response, ...fault);
    const [, name, ...steps] = decodeURIComponent(new URL(request.url ?? '', 'http://s3').pathname).split('/');
    if (name !== bucket) return refuse(response, 404, 'NoSuchBucket');
    const key = steps.join('/');
    const object = objects.get(key);
    if (request.method === 'PUT') {
      if (request.headers['content-length'] === undefined) return refuse(response, 411, 'MissingContentLength');
      objects.set(key, body);
      response.end();
    } else if (request.method === 'DELETE') {
      objects.delete(key);
      response.writeHead(204).end();
    } else if (!object) {
      refuse(response, 404, 'NoSuchKey');
    } else {
      response.writeHead(200, { 'Content-Length': object.length });
      if (now === 'cut') response.write(object.subarray(0, object.length / 2), () => request.socket.destroy());
      else response.end(object);
    }
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    answer(request, response, Buffer.concat(chunks));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    requests,
    trouble,
    async close() {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}
