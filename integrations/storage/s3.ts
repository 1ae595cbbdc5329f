import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, openAsBlob } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';
import { checkKey, FileMissing, type FileStore, StorageError } from './storage.ts';

/** Where a bucket is and who may use it. */
export interface S3Settings {
  bucket: string;
  /** What every key begins with; '' or segments without a slash at either end. */
  prefix: string;
  region: string;
  /** Origin of a service that is not AWS; the bucket is then part of the path. */
  endpoint: string | undefined;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | undefined;
  /** How long to wait before the second try, in milliseconds; doubled each time. */
  retryMs?: number;
}

const MAX_ATTEMPTS = 4;
const RETRY_MS = 200;
/** One try, with the file on its way. */
const ATTEMPT_TIMEOUT_MS = 60_000;

/**
 * Reads `s3://bucket/prefix?region=…&endpoint=https://…`, with the credentials of the environment: AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, and AWS_REGION where the address has none. Throws what is wrong in a sentence that
 * does not repeat the address.
 */
export function readStorageUrl(text: string, env: NodeJS.ProcessEnv): S3Settings {
  const name = 'GUILDHALL_STORAGE_URL';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 's3:') throw new Error(`${name} must begin with s3://.`);
  if (url.username || url.password) throw new Error(`${name} must not have credentials: set AWS_ACCESS_KEY_ID.`);
  const unknown = [...url.searchParams.keys()].find((key) => key !== 'region' && key !== 'endpoint');
  if (unknown !== undefined) throw new Error(`${name} takes region and endpoint, not ${JSON.stringify(unknown)}.`);
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.host)) throw new Error(`${name} must name a bucket: s3://bucket.`);
  const prefix = url.pathname.replace(/^\/|\/$/g, '');
  if (prefix !== '') checkKey(prefix);
  const endpoint = url.searchParams.get('endpoint') ?? undefined;
  const address = endpoint === undefined || !URL.canParse(endpoint) ? undefined : new URL(endpoint);
  if (
    endpoint !== undefined &&
    (!address || !/^https?:$/.test(address.protocol) || address.href !== `${address.origin}/`)
  )
    throw new Error(`The endpoint of ${name} must be an https:// address without a path.`);
  const region = url.searchParams.get('region') ?? env.AWS_REGION;
  if (!region && !endpoint) throw new Error(`${name} must name a region: s3://bucket?region=eu-central-1.`);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey) throw new Error('S3 needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.');
  return {
    bucket: url.host,
    prefix,
    region: region || 'us-east-1',
    endpoint: address?.origin,
    accessKeyId,
    secretAccessKey,
    sessionToken: env.AWS_SESSION_TOKEN || undefined,
  };
}

/** The address that keys are put behind, without a slash at its end. */
export function bucketAddress({ bucket, prefix, region, endpoint }: S3Settings): string {
  // A bucket with dots in its name is under no certificate of its own.
  const inPath = endpoint ?? (bucket.includes('.') ? `https://s3.${region}.amazonaws.com` : undefined);
  const base = inPath === undefined ? `https://${bucket}.s3.${region}.amazonaws.com` : `${inPath}/${bucket}`;
  return prefix === '' ? base : `${base}/${prefix}`;
}

/**
 * Keeps files in a bucket of S3 or of a service that speaks its protocol. What fails for a moment is tried again; then it throws
 * StorageError.
 */
export function s3Store(settings: S3Settings): FileStore {
  const base = bucketAddress(settings);
  const client = new AwsClient({
    ...settings,
    sessionToken: settings.sessionToken as string,
    service: 's3',
    retries: 0,
  });

  /** Sends the request until it is answered with something else than trouble of the moment, and `read` has read the answer. */
  async function send<T>(method: string, key: string, init: RequestInit, read: (answer: Response) => Promise<T>) {
    checkKey(key);
    for (let tries = 1; ; tries += 1) {
      try {
        const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
        // Signed anew each time: a signature is good for minutes only.
        const request = await client.sign(`${base}/${key}`, { ...init, method });
        // A redirect would be followed with a signature for another address.
        const answer = await fetch(request, { signal, redirect: 'manual' });
        if (answer.ok) return await read(answer);
        const error = await errorOf(answer, method, key);
        if (!(answer.status >= 500 || answer.status === 429) || tries === MAX_ATTEMPTS) throw error;
      } catch (error) {
        if (error instanceof StorageError || error instanceof FileMissing || isLocal(error)) throw error;
        if (tries === MAX_ATTEMPTS)
          throw new StorageError(`The storage did not answer to ${method} ${key}.`, { cause: error });
      }
      await setTimeout((settings.retryMs ?? RETRY_MS) * 2 ** (tries - 1) * (0.5 + Math.random()));
    }
  }

  return {
    async put(key, source) {
      // A Blob has a length, which S3 wants, and can be sent again; that of a file is read as it is sent.
      const body =
        source instanceof Uint8Array ? new Blob([source as Uint8Array<ArrayBuffer>]) : await openAsBlob(source.path);
      const headers = { 'X-Amz-Content-Sha256': await hashOf(source), 'Content-Type': 'application/octet-stream' };
      await send('PUT', key, { body, headers }, drain);
    },
    async fetch(key, path) {
      try {
        await send('GET', key, {}, async ({ body }) => {
          const content = body ? Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]) : Readable.from([]);
          await pipeline(content, createWriteStream(path));
        });
      } catch (error) {
        await rm(path, { force: true });
        throw error;
      }
    },
    async delete(key) {
      try {
        await send('DELETE', key, {}, drain);
      } catch (error) {
        if (!(error instanceof FileMissing)) throw error;
      }
    },
  };
}

/** The SHA-256 that the storage holds the received bytes against, in hexadecimal. */
async function hashOf(source: { path: string } | Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  if (source instanceof Uint8Array) hash.update(source);
  else await pipeline(createReadStream(source.path), hash);
  return hash.digest('hex');
}

/** Reads an answer to its end, so that its connection can be used again. */
async function drain(answer: Response): Promise<void> {
  await answer.arrayBuffer();
}

/** Whether it is the local file that failed: that is not mended by asking the storage again. */
function isLocal(error: unknown): boolean {
  const { path, name } = error as NodeJS.ErrnoException;
  return path !== undefined || name === 'NotReadableError';
}

/** What an answer that is no success says: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
async function errorOf(answer: Response, method: string, key: string): Promise<Error> {
  const text = (await answer.text()).slice(0, 10_000);
  const tag = (name: string) => new RegExp(`<${name}>([^<]{0,500})</${name}>`).exec(text)?.[1];
  const code = tag('Code');
  if (answer.status === 404 && code === 'NoSuchKey') return new FileMissing(`There is no file ${key}.`);
  const says = [answer.status, code, tag('Message')].filter(Boolean).join(' ');
  const region = answer.headers.get('x-amz-bucket-region');
  const hint = region && answer.status !== 403 ? ` The bucket is in the region ${region}.` : '';
  return new StorageError(`The storage answered ${says} to ${method} ${key}.${hint}`);
}
