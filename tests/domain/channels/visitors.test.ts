import { createHmac, randomBytes } from 'node:crypto';
import { SecretBox } from '../../../core/secrets.ts';
import { identitySecretsOf, rotateIdentitySecret } from '../../../domain/channels/webChat/identitySecret.ts';
import { identifiedVisitor, openVisit, readVisitor, startSession } from '../../../domain/channels/webChat/visitors.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const key = randomBytes(32);
const secrets = new SecretBox(() => [key]);
const now = new Date('2026-11-22T12:00:00Z');
const later = (days: number) => new Date(now.getTime() + days * DAY_MS);

describe('the token of a visitor', () => {
  test('names the same visitor again, on the same connection only', () => {
    const { visitor, token } = openVisit(secrets, 'a', undefined, now);
    expect(readVisitor(secrets, 'a', token, later(1))).toEqual(visitor);
    expect(readVisitor(secrets, 'b', token, now)).toBeUndefined();
    expect(openVisit(secrets, 'a', undefined, now).visitor.id).not.toBe(visitor.id);
  });

  test('works for 30 days after the last visit', () => {
    const { visitor, token } = openVisit(secrets, 'a', undefined, now);
    expect(readVisitor(secrets, 'a', token, later(30))).toBeUndefined();
    const renewed = openVisit(secrets, 'a', token, later(29));
    expect(renewed.visitor).toEqual(visitor);
    expect(renewed.token).not.toBe(token);
    expect(readVisitor(secrets, 'a', renewed.token, later(58))).toEqual(visitor);
    expect(openVisit(secrets, 'a', token, later(30)).visitor.id).not.toBe(visitor.id);
  });

  test('is the same for a day', () => {
    const { token } = openVisit(secrets, 'a', undefined, now);
    expect(openVisit(secrets, 'a', token, new Date(now.getTime() + 1000)).token).toBe(token);
  });

  test('cannot be forged', () => {
    const { token } = startSession(secrets, 'a', { id: '42', isIdentified: true }, now);
    const [text = '', signature = ''] = token.split('.');
    const other = Buffer.from(Buffer.from(text, 'base64url').toString().replace('42', '43')).toString('base64url');
    const forged = [
      '',
      '.',
      text,
      `${text}.`,
      `${text}.${signature.slice(1)}`,
      `${text}.${signature}.x`,
      `${other}.${signature}`,
      `.${signature}`,
      'x'.repeat(100_000),
    ];
    for (const each of forged) expect(readVisitor(secrets, 'a', each, now)).toBeUndefined();
    const strangers = new SecretBox(() => [randomBytes(32)]);
    expect(readVisitor(strangers, 'a', token, now)).toBeUndefined();
  });

  test('survives a change of the keys', () => {
    const { visitor, token } = openVisit(secrets, 'a', undefined, now);
    const rotated = new SecretBox(() => [randomBytes(32), key]);
    expect(readVisitor(rotated, 'a', token, now)).toEqual(visitor);
  });
});

describe('a person whom a site names', () => {
  const hmacOf = (secret: string, userId: string) => createHmac('sha256', secret).update(userId).digest('hex');

  test('is the one of the id, when the site has signed it', () => {
    expect(identifiedVisitor(['s1'], '42', hmacOf('s1', '42'))).toEqual({ id: '42', isIdentified: true });
    expect(identifiedVisitor(['s2', 's1'], '42', hmacOf('s1', '42').toUpperCase())).toBeDefined();
  });

  test.each([
    ['another id', '43', hmacOf('s1', '42')],
    ['another secret', '42', hmacOf('s2', '42')],
    ['no HMAC', '42', ''],
    ['a short HMAC', '42', hmacOf('s1', '42').slice(2)],
    ['no hexadecimal digits', '42', 'zz'],
    ['no id', '', hmacOf('s1', '')],
    ['spaces around the id', ' 42', hmacOf('s1', ' 42')],
    ['a NUL', '4\0', hmacOf('s1', '4\0')],
    ['a very long id', 'x'.repeat(256), hmacOf('s1', 'x'.repeat(256))],
  ])('is nobody with %s', (_what, userId, hmac) => {
    expect(identifiedVisitor(['s1'], userId, hmac)).toBeUndefined();
  });

  test('is nobody on a connection without a secret', () => {
    expect(identifiedVisitor(identitySecretsOf(null, now), '42', hmacOf('', '42'))).toBeUndefined();
  });

  test('is known by the secret before, for a day', () => {
    const first = rotateIdentitySecret(null, now);
    expect(first.secret).toMatch(/^[0-9a-f]{64}$/);
    const second = rotateIdentitySecret(first.credentials, now);
    expect(identitySecretsOf(second.credentials, now)).toEqual([second.secret, first.secret]);
    expect(identitySecretsOf(second.credentials, later(1))).toEqual([second.secret]);
  });
});
