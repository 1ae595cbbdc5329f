import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  isSecretReference,
  type SecretReference,
  suggestReference,
} from '../../../../clients/code/secrets/reference.ts';
import { resolveSecret } from '../../../../clients/code/secrets/resolve.ts';

let root: string;
let folder: string;
let source: { env: Record<string, string | undefined>; folder: string };

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'guildhall-secrets-test-')));
  folder = join(root, 'project');
  mkdirSync(join(folder, 'secrets'), { recursive: true });
  writeFileSync(join(root, 'outside'), 'not yours');
  source = { env: { TOKEN: 't0ken', EMPTY: '' }, folder };
});

afterEach(() => rmSync(root, { recursive: true }));

function put(name: string, content: string): void {
  writeFileSync(join(folder, 'secrets', name), content);
}

const secretAt = (reference: SecretReference) => resolveSecret(reference, source);

describe('a reference', () => {
  test.each(['env:TOKEN', 'env:_a1', 'file:secrets/token', 'file:/run/secrets/a b'])('%s is one', (text) => {
    expect(isSecretReference(text)).toBe(true);
  });

  test.each(['t0ken', 'env:', 'env:1A', 'env:A-B', 'env:A B', 'file:', 'ENV:A', '********', '', 7, null])(
    '%j is none',
    (value) => {
      expect(isSecretReference(value)).toBe(false);
    },
  );

  test('that pull suggests is a name that every shell takes, whatever the words are', () => {
    expect(suggestReference('TOOL', 'get-order', 'apiKey')).toBe('env:TOOL_GET_ORDER_API_KEY');
    for (const words of [['9lives', 'x'], ['€', '/'], ['a/b\n', '..'], ['']])
      expect(isSecretReference(suggestReference(...words))).toBe(true);
  });
});

describe('the value of a reference', () => {
  test('comes from the environment, as it is', async () => {
    source.env.PEM = '-----BEGIN\nline\n-----END\n';
    expect(await secretAt('env:TOKEN')).toBe('t0ken');
    expect(await secretAt('env:PEM')).toBe('-----BEGIN\nline\n-----END\n');
  });

  test('comes from a file in the folder, without the line end at its end', async () => {
    put('unix', 'a\nb\n');
    put('windows', 'a\r\nb\r\n');
    put('bare', 'a');
    expect(await secretAt('file:secrets/unix')).toBe('a\nb');
    expect(await secretAt('file:secrets/windows')).toBe('a\r\nb');
    expect(await secretAt('file:./secrets/../secrets/bare')).toBe('a');
  });

  test.each<[SecretReference, RegExp]>([
    ['env:ABSENT', /^env:ABSENT: the variable is not set\.$/],
    ['env:EMPTY', /is empty/],
    ['file:secrets/absent', /^file:secrets\/absent: the file does not exist\.$/],
    ['file:secrets', /is a folder/],
  ])('%s is refused by name', async (reference, message) => {
    await expect(secretAt(reference)).rejects.toThrow(message);
  });

  test('an empty file, and one that is too large, are refused', async () => {
    put('empty', '\n');
    put('large', 'x'.repeat(70_000));
    await expect(secretAt('file:secrets/empty')).rejects.toThrow('is empty');
    await expect(secretAt('file:secrets/large')).rejects.toThrow('more than 65536 bytes');
  });

  test('is never that of a file outside of the folder, by dots, by an absolute path or by a link', async () => {
    symlinkSync(join(root, 'outside'), join(folder, 'secrets/link'));
    symlinkSync(root, join(folder, 'up'));
    for (const path of ['../outside', 'secrets/../../outside', 'secrets/link', 'up/outside', '.'])
      await expect(secretAt(`file:${path}`)).rejects.toThrow('outside of the folder');
    await expect(secretAt(`file:${join(root, 'outside')}`)).rejects.toThrow('GUILDHALL_SECRETS_DIR');
    await expect(secretAt(`file:${join(folder, 'secrets/link')}`)).rejects.toThrow('GUILDHALL_SECRETS_DIR');
  });

  test('may be that of an absolute path inside the folder that the person names', async () => {
    source.env.GUILDHALL_SECRETS_DIR = join(root, 'vault');
    mkdirSync(join(root, 'vault'));
    writeFileSync(join(root, 'vault/token'), 'v');
    expect(await secretAt(`file:${join(root, 'vault/token')}`)).toBe('v');
    await expect(secretAt(`file:${join(root, 'outside')}`)).rejects.toThrow('outside of the folder');
  });
});
