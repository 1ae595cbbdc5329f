import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, openAsBlob } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AwsClient } from 'aws4fetch';
import { backOff, retry } from '../../core/retry.ts';
import { checkKey, FileMissing, type FileStore, StorageError } from './storage.ts';

/** The address of a bucket, and the credentials for it. */
export interface S3Settings {
  bucket: string;
  /** The prefix of every key: '' or segments without a slash at either end. */
  prefix: string;
  region: string;
  /** Origin of a service that is not AWS; the bucket is then part of the path. */
  endpoint: string | undefined;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | undefined;
  /** Milliseconds before the second attempt; doubled each time. */
  retryMs?: number;
}

const MAX_ATTEMPTS = 4;
const RETRY_MS = 200;
/** One attempt, with the transfer of the file. */
const ATTEMPT_TIMEOUT_MS = 60_000;

/**
 * Reads `s3://bucket/prefix?region=…&endpoint=https://…`, with the credentials of the environment: AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, and AWS_REGION where the address has none. Throws an Error that says what is
 * wrong without repeating the address.
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

/** Returns the address that keys are appended to, without a slash at its end. */
export function bucketAddress({ bucket, prefix, region, endpoint }: S3Settings): string {
  // No wildcard certificate covers a bucket with dots in its name.
  const inPath = endpoint ?? (bucket.includes('.') ? `https://s3.${region}.amazonaws.com` : undefined);
  const base = inPath === undefined ? `https://${bucket}.s3.${region}.amazonaws.com` : `${inPath}/${bucket}`;
  return prefix === '' ? base : `${base}/${prefix}`;
}

/**
 * Stores files in a bucket of S3 or of a compatible service. Retries transient failures; throws StorageError when they last.
 */
export function s3Store(settings: S3Settings): FileStore {
  const base = bucketAddress(settings);
  const client = new AwsClient({
    ...settings,
    sessionToken: settings.sessionToken as string,
    service: 's3',
    retries: 0,
  });

  /** Sends the request, with retries while the failure is transient. Returns what `read` reads from the response. */
  async function send<T>(method: string, key: string, init: RequestInit, read: (answer: Response) => Promise<T>) {
    checkKey(key);
    const firstMs = settings.retryMs ?? RETRY_MS;
    try {
      return await retry(
        async () => {
          const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
          // Each attempt is signed again, because a signature expires after minutes.
          const request = await client.sign(`${base}/${key}`, { ...init, method });
          // The signature is only valid for this address, so a redirect cannot be followed.
          const answer = await fetch(request, { signal, redirect: 'manual' });
          if (answer.ok) return await read(answer);
          const error = await errorOf(answer, method, key);
          throw answer.status >= 500 || answer.status === 429 ? new TransientError(error) : error;
        },
        (error, failures) =>
          isFinal(error) || failures === MAX_ATTEMPTS ? undefined : backOff(firstMs, failures) * (0.5 + Math.random()),
      );
    } catch (error) {
      if (error instanceof TransientError) throw error.cause;
      if (isFinal(error)) throw error;
      throw new StorageError(`The storage did not answer to ${method} ${key}.`, { cause: error });
    }
  }

  return {
    async put(key, source) {
      // S3 requires a length. A Blob has one, and can be sent again; a Blob of a file is read while it is sent.
      const body =
        source instanceof Uint8Array ? new Blob([source as Uint8Array<ArrayBuffer>]) : await openAsBlob(source.path);
      const headers = { 'X-Amz-Content-Sha256': await hashOf(source), 'Content-Type': 'application/octet-stream' };
      await send('PUT', key, { body, headers }, drain);
    },
    async fetch(key, path) {
      try {
        await send('GET', key, {}, async ({ body }) => {
          const content = body ? Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]) : Readable.from([]);
          await pipeline(content, createWriteStream(path, { mode: 0o600 }));
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

/** The SHA-256 in hexadecimal that the storage compares with the received bytes. */
async function hashOf(source: { path: string } | Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  if (source instanceof Uint8Array) hash.update(source);
  else await pipeline(createReadStream(source.path), hash);
  return hash.digest('hex');
}

/** Reads a response to its end, so that its connection can be reused. */
async function drain(answer: Response): Promise<void> {
  await answer.arrayBuffer();
}

/** The storage refused a request that it may take later; `cause` is the error to throw when it does not. */
class TransientError extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

/** Whether a retry does not help. */
function isFinal(error: unknown): boolean {
  return error instanceof StorageError || error instanceof FileMissing || isLocal(error);
}

/** Whether reading the local file failed. */
function isLocal(error: unknown): boolean {
  const { path, name } = error as NodeJS.ErrnoException;
  return path !== undefined || name === 'NotReadableError';
}

/** The error code and message of a failed response: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
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
