/** What a skill may hold. The skills that vendors publish stay far below all of it. */
export const SKILL_LIMITS = {
  /** Entries of an archive, folders and ignored ones included. */
  entries: 1_000,
  /** Bytes of one file, unpacked. */
  fileBytes: 20 * 1_048_576,
  /** Bytes of all files, unpacked. */
  totalBytes: 50 * 1_048_576,
  /** Unpacked bytes for each packed one. Deflate reaches 1032 on zeros; text stays below 20, even monotonous data below 100. */
  ratio: 100,
  /** A file or an archive that unpacks to no more than this has any ratio. */
  ratioFreeBytes: 1_048_576,
  /** Characters of a path. */
  pathCharacters: 255,
  /** Parts of a path. */
  pathDepth: 16,
  /** Bytes of the front matter; the YAML parser takes a fifth of a second at worst for so many. */
  frontMatterBytes: 16_384,
} as const;
