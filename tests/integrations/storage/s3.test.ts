import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bucketAddress, readStorageUrl, type S3Settings, s3Store } from '../../../integrations/storage/s3.ts';
import { FileMissing, StorageError } from '../../../integrations/storage/storage.ts';
import { type S3Server, signatures, startS3Server } from '../../support/servers/s3Server.ts';

const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'do-not-tell-anybody' };
const env = { AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey };

let here: string;
let s3: S3Server;

beforeAll(async () => {
  here = await mkdtemp(join(tmpdir(), 'guildhall-s3-test-'));
  s3 = await startS3Server('bucket', 'eu-central-1', credentials);
});
afterEach(() => {
  s3.objects.clear();
  s3.requests.length = 0;
  s3.trouble.length = 0;
});
afterAll(async () => {
  await s3.close();
  await rm(here, { recursive: true });
});

function settings(change: Partial<S3Settings> = {}): S3Settings {
  const { endpoint } = s3;
  return {
    bucket: 'bucket',
    prefix: '',
    region: 'eu-central-1',
    endpoint,
    sessionToken: undefined,
    retryMs: 1,
    ...credentials,
    ...change,
  };
}

/** What goes wrong, in one line with its causes. */
async function errorOf(work: Promise<unknown>): Promise<Error & { text: string }> {
  const error = await work.then(
    () => {
      throw new Error('It went well.');
    },
    (reason: Error) => reason,
  );
  const text = `${error.stack} ${JSON.stringify(error)} ${String((error.cause as Error | undefined)?.stack)}`;
  return Object.assign(error, { text });
}

describe('the stand-in', () => {
  // The examples of https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
  const example = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
  const date = '20130524T000000Z';
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  const scope = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request';
  const authorization = (signed: string, signature: string) =>
    `AWS4-HMAC-SHA256 Credential=${scope},SignedHeaders=${signed},Signature=${signature}`;

  test.each([
    {
      url: '/test.txt',
      signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
      signed: 'host;range;x-amz-content-sha256;x-amz-date',
      headers: { range: 'bytes=0-9' },
    },
    {
      url: '/?lifecycle',
      signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
      signed: 'host;x-amz-content-sha256;x-amz-date',
      headers: {},
    },
    {
      url: '/?max-keys=2&prefix=J',
      signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
      signed: 'host;x-amz-content-sha256;x-amz-date',
      headers: {},
    },
  ])('signs GET $url as the documentation does', ({ url, signature, signed, headers }) => {
    const request = {
      method: 'GET',
      url,
      headers: {
        host: 'examplebucket.s3.amazonaws.com',
        'x-amz-content-sha256': empty,
        'x-amz-date': date,
        authorization: authorization(signed, signature),
        ...headers,
      },
    };
    expect(signatures(request, example)).toMatchObject({ given: signature, expected: signature });
    expect(signatures({ ...request, url: '/other' }, example)?.expected).not.toBe(signature);
  });
});

describe('a request', () => {
  test('is refused with another secret, and its error has no secret', async () => {
    const store = s3Store(settings({ secretAccessKey: 'another-secret', sessionToken: undefined }));
    const error = await errorOf(store.put('key', Buffer.from('x')));
    expect(error).toBeInstanceOf(StorageError);
    expect(error.message).toMatch(/^The storage answered 403 SignatureDoesNotMatch .*PUT key\.$/);
    expect(error.text).not.toMatch(/another-secret|do-not-tell|Signature=/);
    expect(s3.requests).toHaveLength(1);
  });

  test.each<[string, Partial<S3Settings>, RegExp]>([
    ['with an unknown key', { accessKeyId: 'AKIDOTHER' }, /403 InvalidAccessKeyId/],
    ['for another region', { region: 'us-east-1' }, /400 AuthorizationHeaderMalformed/],
    ['with a session token that is none', { sessionToken: 'stolen' }, /403 InvalidToken/],
    ['for another bucket', { bucket: 'other' }, /404 NoSuchBucket/],
  ])('is refused %s, also where a missing file is none', async (_what, change, message) => {
    const store = s3Store(settings(change));
    const calls = [
      () => store.put('key', Buffer.from('x')),
      () => store.fetch('key', join(here, 'x')),
      () => store.delete('key'),
    ];
    for (const call of calls) {
      const error = await errorOf(call());
      expect(error.message).toMatch(message);
      expect(error).not.toBeInstanceOf(FileMissing);
    }
    expect(s3.objects.size).toBe(0);
  });

  test('goes to the prefix', async () => {
    await s3Store(settings({ prefix: 'a/b' })).put('c/d', Buffer.from('x'));
    expect([...s3.objects.keys()]).toEqual(['a/b/c/d']);
  });
});

describe('trouble of the moment', () => {
  const store = () => s3Store(settings());

  test.each([
    ['an error inside', { status: 500, code: 'InternalError' }],
    ['too much to do', { status: 503, code: 'SlowDown' }],
    ['too many requests', { status: 429, code: 'TooManyRequests' }],
    ['a lost connection', 'drop'],
  ] as const)('%s is gone at the third try', async (_what, trouble) => {
    s3.trouble.push(trouble, trouble);
    await store().put('key', Buffer.from('content'));
    expect(s3.objects.get('key')?.toString()).toBe('content');
    s3.trouble.push(trouble, trouble);
    await store().fetch('key', join(here, 'fetched'));
    expect(await readFile(join(here, 'fetched'), 'utf8')).toBe('content');
    s3.trouble.push(trouble, trouble);
    await store().delete('key');
    expect(s3.objects.size).toBe(0);
    expect(s3.requests).toHaveLength(9);
  });

  test('a file that breaks off is fetched again, whole', async () => {
    const bytes = Buffer.alloc(200_000, 'guildhall ');
    s3.objects.set('key', bytes);
    s3.trouble.push('cut', 'cut');
    await store().fetch('key', join(here, 'fetched'));
    const hash = (content: Buffer) => createHash('sha256').update(content).digest('hex');
    expect(hash(await readFile(join(here, 'fetched')))).toBe(hash(bytes));
  });

  test('that lasts is an error after four attempts, and leaves no partial file', async () => {
    s3.objects.set('key', Buffer.alloc(200_000));
    s3.trouble.push(...Array<'cut'>(4).fill('cut'));
    expect(await errorOf(store().fetch('key', join(here, 'half')))).toBeInstanceOf(StorageError);
    await expect(readFile(join(here, 'half'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(s3.requests).toHaveLength(4);
    s3.trouble.push(...Array(4).fill({ status: 503, code: 'SlowDown' }));
    expect((await errorOf(store().delete('key'))).message).toBe(
      'The storage answered 503 SlowDown SlowDown: as S3 says it to DELETE key.',
    );
    expect(s3.requests).toHaveLength(8);
  });

  test('includes a service that does not respond', async () => {
    const error = await errorOf(s3Store(settings({ endpoint: 'http://127.0.0.1:1' })).put('key', Buffer.from('x')));
    expect(error).toBeInstanceOf(StorageError);
    expect(error.message).toBe('The storage did not answer to PUT key.');
    expect(error.text).not.toContain('do-not-tell');
  });

  test('does not include a local file that cannot be written', async () => {
    s3.objects.set('key', Buffer.from('x'));
    expect(await errorOf(store().fetch('key', join(here, 'no', 'folder')))).toMatchObject({ code: 'ENOENT' });
    expect(s3.requests).toHaveLength(1);
  });
});

describe('GUILDHALL_STORAGE_URL', () => {
  test.each([
    ['s3://files?region=eu-central-1', 'https://files.s3.eu-central-1.amazonaws.com'],
    ['s3://files/', 'https://files.s3.us-west-2.amazonaws.com'],
    ['s3://files/a/b/?region=eu-central-1', 'https://files.s3.eu-central-1.amazonaws.com/a/b'],
    ['s3://my.files?region=eu-central-1', 'https://s3.eu-central-1.amazonaws.com/my.files'],
    ['s3://files?endpoint=http://localhost:9000', 'http://localhost:9000/files'],
    ['s3://files/a?endpoint=https%3A%2F%2Fr2.example.com%2F&region=auto', 'https://r2.example.com/files/a'],
  ])('%s is %s', (url, address) => {
    expect(bucketAddress(readStorageUrl(url, { ...env, AWS_REGION: 'us-west-2' }))).toBe(address);
  });

  test.each([
    ['https://files.s3.amazonaws.com', /must begin with s3/],
    ['files', /must begin with s3/],
    ['s3://key:hidden@files?region=r', /must not have credentials/],
    ['s3://?region=r', /must name a bucket/],
    ['s3://Files_1?region=r', /must name a bucket/],
    ['s3://files', /must name a region/],
    ['s3://files?regoin=r', /not "regoin"/],
    ['s3://files?endpoint=localhost:9000', /endpoint/],
    ['s3://files?endpoint=https://host/path', /endpoint/],
    ['s3://files/a b?region=r', /key/],
    ['s3://files/../b?region=r&endpoint=ftp://host', /endpoint/],
  ])('%s is none', (url, message) => {
    let thrown: unknown;
    try {
      readStorageUrl(url, env);
    } catch (error) {
      thrown = error;
    }
    expect((thrown as Error)?.message).toMatch(message);
    expect((thrown as Error)?.message).not.toContain('hidden');
  });

  test.each(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])('needs %s', (name) => {
    expect(() => readStorageUrl('s3://files?region=r', { ...env, [name]: '' })).toThrow(/AWS_ACCESS_KEY_ID/);
  });

  test('takes the session token of the environment', () => {
    const all = { ...env, AWS_SESSION_TOKEN: 'token' };
    expect(readStorageUrl('s3://files?region=r', all)).toMatchObject({ ...credentials, sessionToken: 'token' });
  });
});
