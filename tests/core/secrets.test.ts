import { randomBytes } from 'node:crypto';
import { parseSecretKeys, SecretBox, SecretUnreadable } from '../../core/secrets.ts';

const place = { workspaceId: 'w', table: 'http_tools', rowId: 'r', column: 'secrets' };
const key = randomBytes(32);
const box = new SecretBox(() => [key]);

describe('a sealed secret', () => {
  test.each(['', 'x', 'geheim ü 秘密', 'a'.repeat(100_000)])('opens in its place', (text) => {
    expect(box.open(box.seal(text, place), place)).toBe(text);
  });

  test('does not show its text, and differs each time', () => {
    const [one, two] = [box.seal('password', place), box.seal('password', place)];
    expect(one.includes('password')).toBe(false);
    expect(one.equals(two)).toBe(false);
  });

  test.each([
    ['another workspace', { ...place, workspaceId: 'v' }],
    ['another table', { ...place, table: 'external_mcps' }],
    ['another row', { ...place, rowId: 's' }],
    ['another column', { ...place, column: 'credential' }],
    ['a place that reads alike', { ...place, workspaceId: 'w","http_tools' }],
  ])('does not open in %s', (_where, other) => {
    expect(() => box.open(box.seal('password', place), other)).toThrow(SecretUnreadable);
  });

  test('does not open when any byte was changed, or when it was cut', () => {
    const blob = box.seal('password', place);
    for (let at = 0; at < blob.length; at += 1) {
      const changed = Buffer.from(blob);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => box.open(changed, place)).toThrow(SecretUnreadable);
      expect(() => box.open(blob.subarray(0, at), place)).toThrow(SecretUnreadable);
    }
  });
});

describe('a key ring', () => {
  test('opens what older keys sealed, and seals with the first', () => {
    const old = box.seal('password', place);
    const rotated = new SecretBox(() => [randomBytes(32), key]);
    expect(rotated.open(old, place)).toBe('password');
    expect(() => box.open(rotated.seal('password', place), place)).toThrow(SecretUnreadable);
  });

  test('is asked for at the first secret, and once', () => {
    let asked = 0;
    const lazy = new SecretBox(() => {
      asked += 1;
      return [key];
    });
    expect(asked).toBe(0);
    lazy.open(lazy.seal('x', place), place);
    expect(asked).toBe(1);
  });

  test('takes base64, base64url, hex and passphrases, separated by commas', () => {
    const text = `${key.toString('base64')}, ${key.toString('hex')},${key.toString('base64url')}, correct horse battery`;
    const [first, second, third, phrase] = parseSecretKeys(text);
    expect([first, second, third].every((each) => each?.equals(key))).toBe(true);
    expect(phrase).toHaveLength(32);
    expect(parseSecretKeys('correct horse battery')[0]?.equals(phrase as Buffer)).toBe(true);
  });

  test('is empty without an entry, and refuses what is too short without repeating it', () => {
    expect(parseSecretKeys(' , ')).toEqual([]);
    expect(() => parseSecretKeys('hunter2')).toThrow(/^(?!.*hunter2).*16 characters/);
    for (const keys of [[], [randomBytes(16)]])
      expect(() => new SecretBox(() => keys).seal('x', place)).toThrow('32 bytes');
  });
});
