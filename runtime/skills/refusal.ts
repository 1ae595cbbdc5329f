import { type ApiError, fault } from '../../core/errors.ts';
import { shorten } from '../../core/text.ts';

const MAX_SHOWN = 81;

/** The error for an upload that is no valid skill. `reason` is one sentence that says what is wrong. */
export function badSkill(reason: string, cause?: unknown): ApiError {
  return fault('INVALID_SKILL_ZIP', reason, cause === undefined ? {} : { cause });
}

/** A text of the upload for a message: cut, in quotation marks, with control characters escaped. */
export function shown(text: string): string {
  return JSON.stringify(shorten(text, MAX_SHOWN));
}

/** A number of bytes for a message. */
export function megabytes(bytes: number): string {
  return `${bytes / 1_048_576} MiB`;
}
