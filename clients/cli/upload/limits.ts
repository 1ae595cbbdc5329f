/*
 * Bounds of the document, so that a file that is too big is refused before it is sent. tests/clients/cli/upload.test.ts compares them with
 * `x-max-bytes` and the texts of the document.
 */

export const MAX_KNOWLEDGE_BYTES = 20 * 1024 * 1024;
export const MAX_SKILL_BYTES = 10 * 1024 * 1024;
export const MAX_LOGO_BYTES = 5 * 1024 * 1024;
/** Of a skill's archive: entries, folders included; bytes of one file, and of all, unpacked. */
export const MAX_SKILL_ENTRIES = 1_000;
export const MAX_SKILL_FILE_BYTES = 20 * 1024 * 1024;
export const MAX_UNPACKED_SKILL_BYTES = 50 * 1024 * 1024;
