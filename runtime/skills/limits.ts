/** Limits of an uploaded skill. The skills that vendors publish stay far below them. */
export const SKILL_LIMITS = {
  /** Entries of an archive, folders and ignored ones included. */
  entries: 1_000,
  /** Bytes of one file, unpacked. */
  fileBytes: 20 * 1_048_576,
  /** Bytes of all files, unpacked. */
  totalBytes: 50 * 1_048_576,
  /** Unpacked bytes for each packed byte. Deflate reaches 1032 with zeros; text stays below 20, and repetitive data below 100. */
  ratio: 100,
  /** A file or an archive that unpacks to no more bytes than this may have any ratio. */
  ratioFreeBytes: 1_048_576,
  /** Characters of a path. */
  pathCharacters: 255,
  /** Parts of a path. */
  pathDepth: 16,
  /** Bytes of the front matter. The YAML parser needs at most 0.2 s for them. */
  frontMatterBytes: 16_384,
} as const;
