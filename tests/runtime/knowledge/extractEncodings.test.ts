import { decodeText } from '../../../runtime/knowledge/extract/encoding.ts';

const hex = (digits: string) => Buffer.from(digits.replaceAll(' ', ''), 'hex');
const utf16be = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
/** Bytes that are the same in every run and make no sense. */
const noise = (length: number, or: number) => {
  let state = 42;
  return Buffer.from(
    Array.from({ length }, () => {
      state = (state * 1103515245 + 12345) % 2147483648;
      return (state >> 16) | or;
    }).map((value) => value & 0xff),
  );
};

test.each([
  ['UTF-8', Buffer.from('Größe — 返金'), 'Größe — 返金'],
  ['UTF-8 with a mark', Buffer.from('\ufeffGröße'), 'Größe'],
  ['UTF-16, little end first', Buffer.from('\ufeffGröße', 'utf16le'), 'Größe'],
  ['UTF-16, big end first', utf16be('Größe 返金'), 'Größe 返金'],
  [
    'ISO 8859-1',
    Buffer.from('Die Größe der Schlüssel für die Türen ist nicht überall gleich.', 'latin1'),
    'Die Größe der Schlüssel für die Türen ist nicht überall gleich.',
  ],
  [
    'ISO 8859-1 after much ASCII',
    Buffer.concat([Buffer.alloc(400_000, 'plain words '), Buffer.from('Schlüssel für Türen', 'latin1')]),
    `${Buffer.alloc(400_000, 'plain words ').toString()}Schlüssel für Türen`,
  ],
  ['Windows-1252', hex('5072 6963 6520 3330 80 20 93 6f6e 6c79 94'), 'Price 30€ “only”'],
  ['Windows-1251', hex('cff0 e8e2 e5f2 2c20 ece8 f0'), 'Привет, мир'],
  ['Shift JIS', hex('95d4 8be0 82cd 8e4f 8f5c 93fa 88c8 93e0 82c5 82b7 8142'), '返金は三十日以内です。'],
  [
    'EUC-KR',
    hex('c8af bad2 c0ba 20bd cac0 cfc0 cf20 c0cc b3bb bfa1 20c3 b3b8 aeb5 cbb4 cfb4 d92e'),
    '환불은 십일일 이내에 처리됩니다.',
  ],
])('%s is recognised', (_name, bytes, text) => {
  expect(decodeText(bytes)).toBe(text);
});

test.each([
  ['bytes at random', noise(2000, 0x80)],
  ['other bytes at random', noise(2000, 0xa0)],
  ['UTF-16 without a mark', Buffer.from('Hello, world', 'utf16le')],
  ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0])],
  ['UTF-16 that is cut in a character', Buffer.from([0xff, 0xfe, 0x41])],
])('%s: the error says to save it as UTF-8', (_name, bytes) => {
  expect(() => decodeText(bytes)).toThrow(/encoding .* cannot be told\. Save it as UTF-8/);
});
