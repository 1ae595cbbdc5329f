import { FILE_KINDS, isDeclared, namesOf, plainType } from '../../../runtime/files/fileKinds.ts';

test('no media type and no extension belongs to two kinds', () => {
  const types = FILE_KINDS.flatMap(({ mediaType, aliases }) => [mediaType, ...aliases]);
  const extensions = FILE_KINDS.flatMap((kind) => kind.extensions);
  expect(new Set(types).size).toBe(types.length);
  expect(new Set(extensions).size).toBe(extensions.length);
});

test('a media type is known in any case, with parameters and by its other names', () => {
  expect(plainType(' Text/X-Markdown; charset=utf-8')).toBe('text/markdown');
  expect(plainType('video/mp4')).toBe('video/mp4');
});

test.each([undefined, '', 'application/octet-stream', 'Binary/Octet-Stream; a=b'])('%j declares nothing', (type) => {
  expect(isDeclared(type)).toBe(false);
});

test('kinds are named in a sentence', () => {
  expect(namesOf(FILE_KINDS.filter(({ source }) => source !== null))).toBe('PDF, DOCX, plain text, CSV or Markdown');
});
