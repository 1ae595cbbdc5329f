import { cutText, escapeXml, isStorable, shorten, toStorable, unescapeXml } from '../../core/text.ts';

test('text that PostgreSQL cannot store is recognised and made storable', () => {
  expect(isStorable('a😀b')).toBe(true);
  expect(isStorable('a\0b')).toBe(false);
  expect(isStorable('a\ud83d')).toBe(false);
  expect(toStorable('a\0b\ud83dc')).toBe('ab\ufffdc');
  expect(toStorable('a\0b', ' ')).toBe('a b');
});

describe('a cut', () => {
  test('keeps text of the maximum length', () => {
    expect(cutText('abc', 3)).toBe('abc');
    expect(shorten('abc', 3)).toBe('abc');
  });

  test('takes no half of a surrogate pair', () => {
    expect(cutText('a😀b', 2)).toBe('a');
    expect(cutText('a😀b', 3)).toBe('a😀');
    expect(shorten('a😀bc', 3)).toBe('a…');
  });

  test('is well-formed, even when the text is not', () => {
    expect(cutText('\udc00abc', 2)).toBe('\ufffda');
    expect(cutText('a\ud83d', 2)).toBe('a\ufffd');
    expect(shorten('\udc00', 2)).toBe('\ufffd');
  });

  test('with an ellipsis stays within the maximum and ends in no space', () => {
    expect(shorten('abcdef', 4)).toBe('abc…');
    expect(shorten('ab cdef', 4)).toBe('ab…');
  });
});

test('XML is escaped and unescaped without loss', () => {
  const text = `<a href="b">&amp; 'c'</a>`;
  expect(escapeXml(text)).toBe(`&lt;a href=&quot;b&quot;&gt;&amp;amp; 'c'&lt;/a&gt;`);
  expect(unescapeXml(escapeXml(text))).toBe(text);
  expect(unescapeXml('&nbsp;&#60;&lt;')).toBe('&nbsp;&#60;<');
});
